//! One point of the grid: all that a fork must know about its work.

use super::{JmhMode, TimeUnit};
use serde::{Deserialize, Serialize};

/// One point of the grid. Its parameters are canonical: [`super::Axis::canonical`] has accepted
/// them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Name of the experiment.
    pub experiment: String,
    /// One of its modes.
    pub mode: String,
    /// The score that is computed.
    pub jmh_mode: JmhMode,
    /// The unit of the score.
    pub unit: TimeUnit,
    /// Measuring threads, at least one.
    pub threads: usize,
    /// Name and value of every axis that the mode has, in the order of the axes; then of neighbours,
    /// which are not an axis.
    pub params: Vec<(String, String)>,
}

/// An experiment asks for a parameter that the case does not have in that form.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("experiment `{experiment}` asks for `{name}` as {wanted}, which the case does not have: {found}")]
pub struct ParameterError {
    experiment: String,
    name: String,
    wanted: &'static str,
    found: String,
}

impl Case {
    /// The name in result files, `<experiment>.<mode>`.
    pub fn benchmark(&self) -> String {
        format!("{}.{}", self.experiment, self.mode)
    }

    /// The text of a parameter.
    ///
    /// # Errors
    /// The mode has no axis of that name.
    pub fn text(&self, name: &str) -> Result<&str, ParameterError> {
        let found = self.params.iter().find(|(axis, _)| axis == name);
        found.map(|(_, value)| value.as_str()).ok_or_else(|| self.lacks(name, "a parameter"))
    }

    /// A size in bytes.
    ///
    /// # Errors
    /// There is no such parameter, or it is not a number.
    pub fn size(&self, name: &str) -> Result<usize, ParameterError> {
        self.text(name)?.parse().map_err(|_| self.lacks(name, "a size"))
    }

    /// A whole number.
    ///
    /// # Errors
    /// There is no such parameter, or it is not a number.
    pub fn count(&self, name: &str) -> Result<u64, ParameterError> {
        self.text(name)?.parse().map_err(|_| self.lacks(name, "a count"))
    }

    /// A number with decimals.
    ///
    /// # Errors
    /// There is no such parameter, or it is not a number.
    pub fn factor(&self, name: &str) -> Result<f64, ParameterError> {
        self.text(name)?.parse().map_err(|_| self.lacks(name, "a number"))
    }

    /// A switch.
    ///
    /// # Errors
    /// There is no such parameter, or it is neither `on` nor `off`.
    pub fn switch(&self, name: &str) -> Result<bool, ParameterError> {
        match self.text(name)? {
            "on" => Ok(true),
            "off" => Ok(false),
            _ => Err(self.lacks(name, "a switch")),
        }
    }

    fn lacks(&self, name: &str, wanted: &'static str) -> ParameterError {
        let found = format!("{:?}", self.params);
        ParameterError { experiment: self.experiment.clone(), name: name.into(), wanted, found }
    }
}

#[cfg(test)]
pub(crate) mod examples {
    use super::*;

    /// A case of an experiment that does not exist.
    pub(crate) fn case(jmh_mode: JmhMode, threads: usize) -> Case {
        Case {
            experiment: "example".into(),
            mode: "plain".into(),
            jmh_mode,
            unit: TimeUnit::Nanoseconds,
            threads,
            params: vec![("size".into(), "65536".into()), ("resize".into(), "off".into())],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_asked_for_by_name_and_kind() {
        let case = examples::case(JmhMode::Throughput, 1);
        assert_eq!((case.size("size"), case.count("size")), (Ok(65536), Ok(65536)));
        assert_eq!(case.factor("size"), Ok(65536.0));
        assert!(case.factor("resize").unwrap_err().to_string().contains("`resize` as a number"));
        assert_eq!(case.switch("resize"), Ok(false));
        assert_eq!(case.text("resize"), Ok("off"));
        assert!(case.switch("size").unwrap_err().to_string().contains("`size` as a switch"));
        assert!(case.size("eden").unwrap_err().to_string().contains("`eden` as a parameter"));
        assert!(case.size("resize").is_err());
    }

    #[test]
    fn a_case_survives_the_way_to_its_fork() {
        let case = examples::case(JmhMode::SampleTime, 4);
        let text = serde_json::to_string(&case).unwrap();
        assert!(text.contains(r#""jmh_mode":"sample""#), "{text}");
        assert_eq!(serde_json::from_str::<Case>(&text).unwrap(), case);
    }
}
