//! Logs in JSON with entries that are not one to a line: printed for people, in arrays, or several
//! objects to a line.

use super::*;
use serde_json::{Value, json};

/// The lines of a real log, and its sums.
fn lines() -> (Vec<String>, Log) {
    let text = real("decorated-17.log");
    (text.lines().map(String::from).collect(), read(text.as_bytes()))
}

/// Checks that a text gives the same sums as the log.
fn same(text: &str, who: &str) {
    let (_, plain) = lines();
    let log = read(text.as_bytes());
    assert_eq!((log.read, log.skipped), (plain.read, plain.skipped), "{who}");
    assert_eq!((log.totals, log.agreement()), (plain.totals, plain.agreement()), "{who}");
    assert_eq!(log.accounts(), plain.accounts(), "{who}");
    assert_eq!((log.jvms(), log.releases(), log.cut_off), (1, plain.releases(), false), "{who}");
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

fn events(lines: &[String]) -> Vec<Value> {
    let event =
        |line: &String| json!({ "eventId": "3", "timestamp": 1_704_067_200_123_u64, "message": line });
    lines.iter().map(event).collect()
}

#[test]
fn json_printed_for_people_is_read() {
    let small = "[\n {\n  \"message\": \"[7ms][gc,tlab] TLAB fill: thread: 0x7f [id: 9] capacity: 64K slow \
                 allocs: 3  refills: 10\",\n  \"severity\": \"INFO\"\n }\n]\n";
    let log = read(small.as_bytes());
    assert_eq!((log.read, log.skipped), (1, Skipped::default()));
    assert_eq!(log.accounts()[0].refills, 10);
    let (lines, _) = lines();
    let all = events(&lines);
    same(&pretty(&json!(all)), "array");
    same(&(pretty(&json!(all)).replace('\n', "\r\n") + "\r\n"), "array, CRLF");
    let one_by_one = |between: &str| all.iter().map(pretty).collect::<Vec<_>>().join(between);
    same(&one_by_one("\n"), "jq");
    same(&one_by_one(",\n"), "jq, commas");
    same(&one_by_one("\n\u{1e}"), "json-seq");
    let cloud_watch = json!({ "events": all, "nextForwardToken": "f/1", "searchedLogStreams": [] });
    same(&pretty(&cloud_watch), "CloudWatch");
    let google = |line: &String| json!({ "jsonPayload": { "message": line }, "labels": { "a": "b" } });
    same(&pretty(&json!(lines.iter().map(google).collect::<Vec<_>>())), "Stackdriver");
    let text = |line: &String| json!({ "textPayload": line, "timestamp": "2024-01-01T00:00:00.5Z" });
    same(&pretty(&json!(lines.iter().map(text).collect::<Vec<_>>())), "Stackdriver, text");
    let elastic =
        |line: &String| json!({ "_id": "x", "_source": { "message": line, "tags": ["a", 1, null] } });
    let hits =
        json!({ "took": 5, "hits": { "total": 9, "hits": lines.iter().map(elastic).collect::<Vec<_>>() } });
    same(&pretty(&hits), "Elasticsearch");
    let docker = |line: &String| json!({ "log": format!("{line}\n"), "stream": "stdout" });
    same(&pretty(&json!(lines.iter().map(docker).collect::<Vec<_>>())), "Docker");
}

#[test]
fn several_objects_on_a_line_are_read() {
    let (lines, _) = lines();
    let all: Vec<String> = events(&lines).iter().map(Value::to_string).collect();
    for between in ["", " ", ",", ", "] {
        same(&all.join(between), between);
        same(&(all.join(between) + "\n"), between);
        // Two to a line, from the second line on.
        let rest: String = all[1..].chunks(2).map(|two| two.join(between) + "\n").collect();
        same(&format!("{}\n{rest}", all[0]), between);
    }
    same(&format!("[{}]", all.join(", ")), "array");
    let halves = all.split_at(all.len() / 2);
    same(&format!("[{}]\n[{}]\n", halves.0.join(","), halves.1.join(",")), "an array a line");
    same(&format!("{{\"events\":[{}]}}\n", all.join(",")), "CloudWatch");
    // Docker's wrapping, from writers that ran into each other.
    let docker = |line: &String| json!({ "log": format!("{line}\n"), "stream": "stdout" }).to_string();
    let two = |two: &[String]| two.iter().map(docker).collect::<String>() + "\n";
    same(&lines.chunks(2).map(two).collect::<String>(), "Docker");
}

#[test]
fn a_line_of_json_may_be_longer_than_lines_are() {
    let all: Vec<String> =
        (1..9000).map(|refills| NEW_FILL.replace("refills: 10", &format!("refills: {refills}"))).collect();
    let text = json!({ "events": events(&all) }).to_string();
    assert!(text.len() > 1 << 20);
    let log = read(text.as_bytes());
    assert_eq!((log.read, log.skipped, log.accounts()[0].refills), (8999, Skipped::default(), 8999));
}

#[test]
fn lines_before_and_behind_json_are_lines() {
    let (lines, plain) = lines();
    let array = pretty(&json!(events(&lines)));
    let log = read(format!("{array}\n{{done}}\n[0.5s] done\n").as_bytes());
    assert_eq!((log.accounts(), log.skipped.foreign), (plain.accounts(), plain.skipped.foreign + 2));
    // An object that is no entry, between lines: each of its lines is about something else.
    let other = pretty(&json!({ "a": "b", "c": [1, 2] }));
    let log = read(format!("{other}\n{}\n", lines.join("\n")).as_bytes());
    assert_eq!(log.accounts(), plain.accounts());
    assert_eq!(log.skipped.foreign, plain.skipped.foreign + other.lines().count() as u64);
}

#[test]
fn json_that_is_cut_gives_what_it_has_and_damaged_json_its_place() {
    let all = vec![SLOW.to_string(), NEW_FILL.to_string()];
    let array = pretty(&json!(events(&all)));
    let refused = |text: &str| super::super::read(text.as_bytes()).unwrap_err().to_string();
    let cut = super::super::read(&array.as_bytes()[..array.len() - 20]).unwrap();
    assert_eq!((cut.read, cut.skipped, cut.cut_off), (1, Skipped { damaged: 1, foreign: 0 }, true));
    for cut in 0..array.len() {
        // Before an entry is complete, these are lines about something else.
        let log = super::super::read(&array.as_bytes()[..cut]).unwrap();
        assert!(log.read + log.skipped.damaged <= 3, "{cut}: {} {:?}", log.read, log.skipped);
    }
    let second = array.rfind('{').unwrap();
    let line = 1 + array[..second].matches('\n').count();
    let damaged = format!("{}oops{}", &array[..second], &array[second..]);
    let said = refused(&damaged);
    assert!(said.contains(&format!("it is JSON that is damaged in line {line}: ")), "{said}");
    assert!(!said.contains("column"), "{said}");
    let said = refused(&format!("\n{}\n{damaged}", pretty(&json!({ "message": SLOW }))));
    assert!(said.contains(&format!("it is JSON that is damaged in line {}: ", line + 4)), "{said}");
    // An export of something else behind the first entry has no end.
    let endless = format!("[\n{{\"message\":\"x\"}},\n\"{}", "y".repeat(17 << 20));
    assert!(refused(&endless).contains("no line of a log in 16 MiB"));
    let deep = format!("[\n{{\"message\":\"x\"}},\n{}", "[".repeat(1000));
    assert!(refused(&deep).contains("it is JSON that is damaged in line 3: recursion limit"));
}

#[test]
fn entities_of_html_are_mended_all() {
    const RESIZE: &str = "[0.5s][trace][gc,tlab] GC(0) TLAB resize: thread: 0x7f [id: 5] alloc-fraction: 0.125 desired_size: 64K -&gt; 32K";
    for (text, who) in [
        (RESIZE.to_string(), "an arrow"),
        (RESIZE.replace("&gt;", "&#62;"), "a number"),
        (format!("&lt;30&gt;Jan  1 00:00:00 host java[123]: {RESIZE}"), "syslog"),
        (format!("a -&gt; b &amp; &quot;c&quot; {RESIZE}"), "another arrow before it"),
        (format!("a -> b {RESIZE}"), "an arrow that is one"),
        (format!("{{&quot;message&quot;:&quot;{RESIZE}&quot;}}"), "JSON"),
        (json!({ "message": RESIZE }).to_string(), "within JSON"),
    ] {
        let log = read(format!("{text}\n").as_bytes());
        assert_eq!((log.read, log.skipped), (1, Skipped::default()), "{who}");
        let sizes = log.accounts()[0].sizes.unwrap();
        assert_eq!((sizes.first, sizes.last), (32 << 10, 32 << 10), "{who}");
    }
    // A text with the characters themselves is not HTML: the program wrote `&amp;`.
    let plain = read(b"{\"message\":\"x &amp; y &quot;z&quot;\"}\n");
    assert_eq!(plain.skipped, Skipped { damaged: 0, foreign: 1 });
}
