//! What a writer asks for: how good, how small, how deep, and in which order.
//!
//! In: a codec's parameter byte, and a flat JSON object. Out: [`Options`].
//! Source: `docs/formats/image-codecs.md`, "Options".

mod json;

use json::Value;

/// Levels of the wavelet transform where nothing is said.
const LEVELS_DEFAULT: u32 = 5;
/// The most levels: more make no image smaller.
const LEVELS_MAX: u32 = 10;
/// The names of the options, for errors.
const NAMES: &str = "quality_mode, quality, levels, reversible, colour_transform, tile, progression, threads";
/// The most layers, and the sides of tiles.
const LAYERS_MAX: usize = 16;
const TILE_SIDES: std::ops::RangeInclusive<u32> = 32..=65_535;
/// The most threads.
const THREADS_MAX: u32 = 64;

/// How good an image is to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Target {
    /// Bit for bit.
    Lossless,
    /// So many times smaller than its bytes, at least.
    Ratio(f64),
    /// At least so many decibels of PSNR against the range of the dtype.
    Psnr(f64),
}

/// The layers before the last one: as many ratios, or decibels, as the target is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Layers {
    values: [f64; LAYERS_MAX],
    count: usize,
    /// Whether they are decibels.
    pub(crate) is_psnr: bool,
}

impl Layers {
    /// The values, the coarsest first.
    pub(crate) fn values(&self) -> &[f64] {
        self.values.get(..self.count).unwrap_or_default()
    }
}

/// What comes first in a code-stream: layers (L), resolutions (R), components (C) or places (P).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Progression {
    #[default]
    Lrcp,
    Rlcp,
    Rpcl,
    Pcrl,
    Cprl,
}

/// What a writer asks for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Options {
    pub(crate) target: Target,
    /// Whether a lossy image has the wavelet of lossless ones.
    pub(crate) is_reversible: bool,
    /// Levels of the wavelet transform.
    pub(crate) levels: u32,
    /// Whether three colours are turned into brightness and differences.
    pub(crate) has_colour_transform: bool,
    /// Layers before the last one, which the target is for.
    pub(crate) layers: Layers,
    /// Rows and columns of a tile, if the image is cut into tiles.
    pub(crate) tile: Option<(u32, u32)>,
    pub(crate) progression: Progression,
    /// Threads that encode one image.
    pub(crate) threads: u32,
}

impl Options {
    /// The options of a parameter byte, which is ten times a ratio if it is not 0, and a text, which may be empty.
    ///
    /// # Errors
    /// What the text says is not understood, or cannot be.
    pub(crate) fn new(meta: u8, text: &str) -> Result<Self, String> {
        let (mut mode, mut qualities, mut reversible) = (Value::Null, Vec::new(), None);
        let (mut levels, mut has_colour_transform) = (LEVELS_DEFAULT, false);
        let (mut tile, mut progression, mut threads) = (None, Progression::default(), 1);
        for (name, value) in json::object(text)? {
            match (name.as_str(), value) {
                ("quality_mode", value) => mode = value,
                ("quality", Value::Number(number)) => qualities = vec![number],
                ("quality", Value::Numbers(numbers)) => qualities = numbers,
                ("quality" | "reversible" | "tile", Value::Null) | ("meta", _) => {}
                ("reversible", Value::Bool(is)) => reversible = Some(is),
                ("colour_transform", Value::Bool(is)) => has_colour_transform = is,
                ("levels", Value::Number(number)) => levels = whole("levels", number, 0..=LEVELS_MAX)?,
                ("tile", Value::Numbers(sides)) => tile = Some(tile_of(&sides)?),
                ("progression", Value::Text(order)) => progression = progression_of(&order)?,
                ("threads", Value::Number(number)) => threads = whole("threads", number, 1..=THREADS_MAX)?,
                (name, value) => return Err(format!("option {name:?}: {value} is not of {NAMES}")),
            }
        }
        let (layers, target) = layered(&mode, &qualities, meta)?;
        if target == Target::Lossless && reversible == Some(false) {
            return Err("reversible false: loses something, so it needs a quality_mode".to_owned());
        }
        let is_reversible = reversible.unwrap_or(false);
        Ok(Self { target, is_reversible, levels, has_colour_transform, layers, tile, progression, threads })
    }
}

/// Whether what is written so may decode to other samples. What is not understood may.
pub(crate) fn is_lossy(meta: u8, text: &str) -> bool {
    Options::new(meta, text).map_or(true, |options| options.target != Target::Lossless)
}

fn target(mode: &Value, quality: Option<f64>, meta: u8) -> Result<Target, String> {
    let wanted = quality.filter(|number| number.is_finite());
    match (mode, wanted) {
        (Value::Null, None) if quality.is_none() && meta == 0 => Ok(Target::Lossless),
        (Value::Null, None) if quality.is_none() => Ok(Target::Ratio(f64::from(meta) / 10.0)),
        (Value::Text(mode), Some(number)) if mode == "rates" && number > 0.0 => Ok(Target::Ratio(number)),
        (Value::Text(mode), Some(number)) if mode == "dB" && number > 0.0 => Ok(Target::Psnr(number)),
        _ => Err(format!(
            "quality_mode {mode} with quality {}: takes \"rates\" with how many times smaller, \"dB\" \
             with the PSNR, both above 0, or neither of them",
            quality.map_or(Value::Null, Value::Number)
        )),
    }
}

/// The layers before the last one, and what the last one is to reach. A last 0 is for all: nothing is lost.
fn layered(mode: &Value, qualities: &[f64], meta: u8) -> Result<(Layers, Target), String> {
    let Some((&last, first)) = qualities.split_last().filter(|(_, first)| !first.is_empty()) else {
        return Ok((Layers::default(), target(mode, qualities.first().copied(), meta)?));
    };
    let is_psnr = *mode == Value::Text("dB".to_owned());
    let is_finer = |pair: &[f64]| match pair {
        [one, next] => *next == 0.0 || if is_psnr { next > one } else { next < one },
        _ => false,
    };
    let is_sound = first.len() < LAYERS_MAX
        && first.iter().all(|number| *number > 0.0 && number.is_finite())
        && qualities.windows(2).all(is_finer);
    if !is_sound || !matches!(mode, Value::Text(_)) {
        return Err(format!(
            "quality {qualities:?}: of layers it takes 2 to {LAYERS_MAX} numbers above 0, each finer than the one before; \
             0 at the end loses nothing"
        ));
    }
    let mut layers = Layers { count: first.len(), is_psnr, ..Layers::default() };
    layers.values.iter_mut().zip(first).for_each(|(value, one)| *value = *one);
    // The mode is checked even where the last layer loses nothing.
    let before = target(mode, first.last().copied(), meta);
    Ok((
        layers,
        if last == 0.0 { before.map(|_| Target::Lossless)? } else { target(mode, Some(last), meta)? },
    ))
}

/// A whole number of a range.
fn whole(name: &str, number: f64, range: std::ops::RangeInclusive<u32>) -> Result<u32, String> {
    let (first, last) = (*range.start(), *range.end());
    let mut all = range;
    all.find(|&one| f64::from(one) == number)
        .ok_or_else(|| format!("{name} {number}: takes {first}..={last}"))
}

/// Rows and columns of a tile.
fn tile_of(sides: &[f64]) -> Result<(u32, u32), String> {
    let [rows, columns] = sides else { return Err(format!("tile {sides:?}: takes [rows, columns]")) };
    Ok((whole("tile", *rows, TILE_SIDES)?, whole("tile", *columns, TILE_SIDES)?))
}

fn progression_of(order: &str) -> Result<Progression, String> {
    Ok(match order {
        "LRCP" => Progression::Lrcp,
        "RLCP" => Progression::Rlcp,
        "RPCL" => Progression::Rpcl,
        "PCRL" => Progression::Pcrl,
        "CPRL" => Progression::Cprl,
        _ => return Err(format!("progression {order:?}: takes LRCP, RLCP, RPCL, PCRL or CPRL")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_byte_is_ten_times_a_ratio_unless_the_text_says_more() {
        assert_eq!(Options::new(0, "").unwrap().target, Target::Lossless);
        assert_eq!(Options::new(80, "").unwrap().target, Target::Ratio(8.0));
        let text = r#"{"quality_mode": "dB", "quality": 45, "levels": 3, "reversible": true, "meta": 0}"#;
        let options = Options::new(0, text).unwrap();
        assert_eq!((options.target, options.levels), (Target::Psnr(45.0), 3));
        assert!(options.is_reversible && !options.has_colour_transform);
        assert_eq!(
            Options::new(7, r#"{"quality_mode":"rates","quality":2.5e0}"#).unwrap().target,
            Target::Ratio(2.5)
        );
        assert_eq!(
            Options::new(0, r#"{"quality_mode":null,"quality":null}"#).unwrap().target,
            Target::Lossless
        );
    }

    #[test]
    fn layers_come_before_what_is_asked_for() {
        let of = |text| {
            let Options { layers, target, .. } = Options::new(0, text).unwrap();
            (layers.values().to_vec(), target)
        };
        let rates = r#"{"quality_mode": "rates", "quality": [40, 20, 8.5]}"#;
        assert_eq!(of(rates), (vec![40.0, 20.0], Target::Ratio(8.5)));
        let decibels = r#"{"quality_mode": "dB", "quality": [30, 40, 0]}"#;
        assert_eq!(of(decibels), (vec![30.0, 40.0], Target::Lossless));
        assert!(!is_lossy(0, decibels) && is_lossy(0, rates));
        let text = r#"{"tile": [128, 64], "progression": "RPCL", "threads": 4}"#;
        let options = Options::new(0, text).unwrap();
        assert_eq!((options.tile, options.threads), (Some((128, 64)), 4));
        assert_eq!(options.progression, Progression::Rpcl);
    }

    #[test]
    fn what_is_not_understood_is_an_error_and_counts_as_lossy() {
        let texts = [
            "{",
            "[]",
            r#"{"quality": 3}"#,
            r#"{"quality_mode": "dB"}"#,
            r#"{"quality_mode": "rates", "quality": -1}"#,
            r#"{"quality_mode": "rates", "quality": 1e999}"#,
            r#"{"levels": 2.5}"#,
            r#"{"levels": 11}"#,
            r#"{"reversible": false}"#,
            r#"{"tile": 5}"#,
            r#"{"tile": [64]}"#,
            r#"{"tile": [64, 8]}"#,
            r#"{"progression": "LRPC"}"#,
            r#"{"threads": 0}"#,
            r#"{"quality": [8, 4]}"#,
            r#"{"quality_mode": "rates", "quality": [4, 8]}"#,
            r#"{"quality_mode": "dB", "quality": [40, 30]}"#,
            r#"{"quality_mode": "dB", "quality": [40, 0, 50]}"#,
            r#"{"quality_mode": "best", "quality": [40, 0]}"#,
        ];
        for text in texts {
            assert!(Options::new(0, text).is_err(), "{text}");
            assert!(is_lossy(0, text), "{text}");
        }
        assert!(!is_lossy(0, "") && !is_lossy(0, r#"{"levels": 2}"#) && is_lossy(20, ""));
    }
}
