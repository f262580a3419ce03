//! Three colours as brightness and two differences, and back.
//!
//! In: planes, of which the first three are red, green and blue. Out: the same planes.
//! Source: ISO/IEC 15444-1, Annex G.

/// The first three planes, if they are to change.
fn colours<T>(planes: &mut [Vec<T>], is_wanted: bool) -> Option<[&mut Vec<T>; 3]> {
    match planes {
        [red, green, blue, ..] if is_wanted => Some([red, green, blue]),
        _ => None,
    }
}

/// Changes every triple of items.
fn change<T: Copy>(planes: &mut [Vec<T>], is_wanted: bool, change: impl Fn(T, T, T) -> (T, T, T)) {
    let Some([first, second, third]) = colours(planes, is_wanted) else { return };
    for ((a, b), c) in first.iter_mut().zip(second).zip(third) {
        (*a, *b, *c) = change(*a, *b, *c);
    }
}

/// Whole numbers, without loss.
pub(super) fn forward(planes: &mut [Vec<i32>], is_wanted: bool) {
    change(planes, is_wanted, |red, green, blue| ((red + 2 * green + blue) >> 2, blue - green, red - green));
}

/// The reverse of [`forward`].
pub(super) fn inverse(planes: &mut [Vec<i32>], is_wanted: bool) {
    change(planes, is_wanted, |light, blue, red| {
        let green = light.wrapping_sub(blue.wrapping_add(red) >> 2);
        (red.wrapping_add(green), green, blue.wrapping_add(green))
    });
}

/// Real numbers.
pub(super) fn forward_real(planes: &mut [Vec<f32>], is_wanted: bool) {
    change(planes, is_wanted, |red, green, blue| {
        (
            0.299 * red + 0.587 * green + 0.114 * blue,
            -0.168_75 * red - 0.331_26 * green + 0.5 * blue,
            0.5 * red - 0.418_69 * green - 0.081_31 * blue,
        )
    });
}

/// The reverse of [`forward_real`].
pub(super) fn inverse_real(planes: &mut [Vec<f32>], is_wanted: bool) {
    change(planes, is_wanted, |light, blue, red| {
        (light + 1.402 * red, light - 0.344_13 * blue - 0.714_14 * red, light + 1.772 * blue)
    });
}
