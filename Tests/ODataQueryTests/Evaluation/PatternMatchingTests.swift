import ODataQuery
import TestCorpus
import Testing

@Suite("matchesPattern")
struct PatternMatchingTests {
    @Test(
        "Patterns match anywhere in the text unless they are anchored",
        arguments: [
            ("b", "abc", true), ("^b", "abc", false), ("c$", "abc", true), ("^$", "", true), ("", "x", true),
            ("a.c", "a\nc", false), ("a.c", "a😀c", true), ("^(ab|cd)+$", "abcdab", true), ("^(ab|cd)+$", "abc", false),
            ("^a{2,3}$", "aaa", true), ("^a{2,3}$", "aaaa", false), ("^a{2}$", "a", false), ("^a{2,}$", "aaaaa", true),
            ("^[^a-c]+$", "xyz", true), ("^[^a-c]+$", "xbz", false), ("[\\d\\-x]", "-", true),
            ("^\\w+\\s\\w+$", "ab cd", true),
            ("\\bcat\\b", "a cat.", true), ("\\bcat\\b", "concat", false), ("\\Bcat", "concat", true),
            ("^\\p{Lu}\\p{Ll}+$", "Ärger", true), ("^\\P{L}$", "é", false), ("^\\u00e4$", "ä", true),
            ("^\\u{1F600}$", "😀", true), ("^\\ud83d\\ude00$", "😀", true), ("^\\x41$", "A", true),
            ("a{,2}", "a{,2}", true),
            ("^(?:a|b)*?c$", "ababc", true), ("^(?<year>\\d{4})$", "2024", true), ("[^\\W]", "-", false),
            ("^[]$", "", false),
            ("(a*)*b", "aaaa", false), ("^.{0,5}$", "e\u{301}xxx", true),
        ])
    func matches(pattern: String, text: String, expected: Bool) throws {
        #expect(try PatternMatching.matches(text, pattern: pattern) == expected, "\(pattern)")
    }

    @Test("Canonically equivalent patterns are different patterns")
    func canonicallyEquivalent() throws {
        for _ in 0..<2 {
            #expect(try PatternMatching.matches("\u{E9}", pattern: "^\u{E9}$"))
            #expect(try !PatternMatching.matches("\u{E9}", pattern: "^e\u{301}$"))
            #expect(try PatternMatching.matches("e\u{301}", pattern: "^e\u{301}$"))
            #expect(try !PatternMatching.matches("e\u{301}", pattern: "^\u{E9}$"))
        }
    }

    @Test(
        "An invalid pattern is refused",
        arguments: [
            "(", ")", "[", "a**", "*", "a{3,2}", "(a)\\1", "(?=a)", "(?<!a)", "\\q", "[b-a]", "\\p{Nope}", "\\u12",
            "(?a)",
            "a++", "\\", "[\\",
        ])
    func refused(pattern: String) {
        #expect(throws: EvaluationError.pattern(pattern)) { try PatternMatching.matches("a", pattern: pattern) }
    }

    @Test("Slow patterns end quickly, and large ones are refused")
    func catastrophic() throws {
        let text = String(repeating: "a", count: 4_000)
        let time = processorTime {
            for pattern in ["^(a+)+$b", "^(a|aa)+$b", "(a*)*c", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$"] {
                #expect((try? PatternMatching.matches(text, pattern: pattern)) == false)
            }
        }
        #expect(time < .seconds(20))
        #expect(throws: EvaluationError.limit("PatternMatching.maxInstructions")) {
            try PatternMatching.matches("a", pattern: "((a{100}){100}){100}")
        }
        #expect(throws: EvaluationError.limit("PatternMatching.maxPatternLength")) {
            try PatternMatching.matches(
                "a", pattern: String(repeating: "a", count: PatternMatching.maxPatternLength + 1))
        }
        #expect(throws: EvaluationError.limit("PatternMatching.maxSteps")) {
            try PatternMatching.matches(String(repeating: "a", count: 1_000_000), pattern: "(a?){300}b")
        }
        let empty = String(repeating: "(", count: 40) + String(repeating: "){10000}", count: 40)
        #expect(try PatternMatching.matches("a", pattern: empty))
        #expect(try PatternMatching.matches("a", pattern: "((((a{0}){10000}){10000}){10000}){10000}"))
        let deep = String(repeating: "(", count: 400) + String(repeating: ")", count: 400)
        #expect(throws: EvaluationError.self) { try PatternMatching.matches("a", pattern: deep) }
    }
}
