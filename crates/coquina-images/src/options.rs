//! What a writer asks for: how good, how small, how deep.
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
const NAMES: &str = "quality_mode, quality, levels, reversible, colour_transform";

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
}

impl Options {
    /// The options of a parameter byte, which is ten times a ratio if it is not 0, and a text, which may be empty.
    ///
    /// # Errors
    /// What the text says is not understood, or cannot be.
    pub(crate) fn new(meta: u8, text: &str) -> Result<Self, String> {
        let (mut mode, mut quality, mut reversible) = (Value::Null, None, None);
        let (mut levels, mut has_colour_transform) = (LEVELS_DEFAULT, false);
        for (name, value) in json::object(text)? {
            match (name.as_str(), value) {
                ("quality_mode", value) => mode = value,
                ("quality", Value::Number(number)) => quality = Some(number),
                ("quality" | "reversible", Value::Null) | ("meta", _) => {}
                ("reversible", Value::Bool(is)) => reversible = Some(is),
                ("colour_transform", Value::Bool(is)) => has_colour_transform = is,
                ("levels", Value::Number(number)) => levels = whole(number)?,
                (name, value) => return Err(format!("option {name:?}: {value} is not of {NAMES}")),
            }
        }
        let target = target(&mode, quality, meta)?;
        if target == Target::Lossless && reversible == Some(false) {
            return Err("reversible false: loses something, so it needs a quality_mode".to_owned());
        }
        Ok(Self { target, is_reversible: reversible.unwrap_or(false), levels, has_colour_transform })
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

/// A number of levels.
fn whole(number: f64) -> Result<u32, String> {
    (0..=LEVELS_MAX)
        .find(|&levels| f64::from(levels) == number)
        .ok_or_else(|| format!("levels {number}: takes 0..={LEVELS_MAX}"))
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
        ];
        for text in texts {
            assert!(Options::new(0, text).is_err(), "{text}");
            assert!(is_lossy(0, text), "{text}");
        }
        assert!(!is_lossy(0, "") && !is_lossy(0, r#"{"levels": 2}"#) && is_lossy(20, ""));
    }
}
