//! Scores, errors and sizes as text.
//!
//! Scores look as in JMH's text format: three decimals, or a power of ten where three decimals
//! would show zero. Sizes are in the largest unit that divides them, since 65536 is hard to
//! distinguish from 65336.

/// A score with three decimals; `≈ 10⁻⁵` or `≈ 0` if all of them would be zero; `NaN` for NaN.
pub fn score(value: f64) -> String {
    if value == 0.0 {
        return "≈ 0".into();
    }
    if value.abs() >= 0.0005 || value.is_nan() {
        return format!("{value:.3}");
    }
    let exponent = format!("{}", value.abs().log10().round() as i64);
    let raised: String = exponent.chars().map(superscript).collect();
    let sign = if value < 0.0 { "-" } else { "" };
    format!("≈ {sign}10{raised}")
}

/// The error after `±`, at least 0.001; empty when unknown or when the score is only approximate.
pub fn error(score: f64, error: f64) -> String {
    if error.is_nan() || score.abs() < 0.0005 {
        return String::new();
    }
    format!("± {:.3}", error.max(0.001))
}

/// A size in bytes in the largest binary unit that divides it: `64k`, `1m`, `100`.
pub fn size(bytes: u64) -> String {
    const UNITS: [(u32, &str); 4] = [(40, "t"), (30, "g"), (20, "m"), (10, "k")];
    for (shift, unit) in UNITS {
        if bytes != 0 && bytes.trailing_zeros() >= shift {
            return format!("{}{unit}", bytes >> shift);
        }
    }
    bytes.to_string()
}

/// Reads a size with an optional unit of either case: `16`, `64k`, `1M`, `2g`, `1t`.
///
/// # Errors
/// Describes the form of a size, or says that it is too large for 64 bits.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let shift = match text.chars().last().map(|unit| unit.to_ascii_lowercase()) {
        Some('k') => 10,
        Some('m') => 20,
        Some('g') => 30,
        Some('t') => 40,
        _ => 0,
    };
    let digits = if shift == 0 { text } else { &text[..text.len() - 1] };
    if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(format!(
            "`{text}` is not a size; write whole bytes with an optional k, m, g or t, such as 64k"
        ));
    }
    let too_large = || format!("`{text}` is too large for a size; the most is {}", size(1 << 63));
    let number: u64 = digits.parse().map_err(|_| too_large())?;
    number.checked_mul(1 << shift).ok_or_else(too_large)
}

fn superscript(digit: char) -> char {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    digit.to_digit(10).map_or('⁻', |value| RAISED[value as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn scores_and_errors_as_jmh_prints_them() {
        assert_eq!(score(250.0), "250.000");
        assert_eq!(score(0.0005), "0.001");
        assert_eq!(score(0.00001), "≈ 10⁻⁵");
        assert_eq!(score(0.0), "≈ 0");
        assert_eq!(score(-0.000_1), "≈ -10⁻⁴");
        assert_eq!(score(f64::NAN), "NaN");
        assert_eq!(error(250.0, 33.37), "± 33.370");
        assert_eq!(error(250.0, 1e-9), "± 0.001");
        assert_eq!(error(250.0, f64::NAN), "");
        assert_eq!(error(0.0001, 1.0), "");
    }

    #[test]
    fn sizes() {
        assert_eq!(
            (size(0), size(100), size(65536), size(3 << 20)),
            ("0".into(), "100".into(), "64k".into(), "3m".into())
        );
        assert_eq!(
            (parse_size("64K"), parse_size(" 1g "), parse_size("16")),
            (Ok(65536), Ok(1 << 30), Ok(16))
        );
        for wrong in ["", "k", "1.5g", "-1", "12q", "0x10", "é"] {
            assert!(parse_size(wrong).unwrap_err().contains("is not a size"), "{wrong}");
        }
        for wrong in ["99999999999999999999", "99999999999g"] {
            assert!(parse_size(wrong).unwrap_err().contains("too large"), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn a_printed_size_reads_back(bytes in any::<u64>(), shift in 0u32..48) {
            let bytes = (bytes >> shift) << (shift / 2);
            prop_assert_eq!(parse_size(&size(bytes)), Ok(bytes));
        }
    }
}
