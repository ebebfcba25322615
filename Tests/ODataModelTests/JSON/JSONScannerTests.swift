import Testing

@testable import ODataModel

@Suite("The JSON scanner")
struct JSONScannerTests {
    @Test("walks through an object member by member")
    func walk() throws {
        let names = try scan(#" { "a" : 1, "b\u0041" : [true, null, {"x": "y"}], "c": -2.5e1 } "#) {
            (scanner) throws(JSONError) in
            var names: [String] = []
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                names.append(key.string)
                try scanner.skipValue()
            }
            try scanner.expectEnd()
            return names
        }
        #expect(names == ["a", "bA", "c"])
    }

    @Test("gives skipped values as raw text")
    func raw() throws {
        let text = try scan(#"[1, {"a":[ 2 ]}]"#) { (scanner) throws(JSONError) in
            try scanner.beginArray()
            _ = try scanner.nextElement()
            try scanner.skipValue()
            _ = try scanner.nextElement()
            return scanner.rawText(try scanner.skipValue())
        }
        #expect(text == #"{"a":[ 2 ]}"#)
    }

    @Test(
        "decodes every escape",
        arguments: [
            (#""""#, ""), (#""plain""#, "plain"), (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"),
            (#""\u00e9\uD83D\uDE00x""#, "é😀x"),
            ("\"häßlich 漢字 😀 and a long tail of text\"", "häßlich 漢字 😀 and a long tail of text"),
        ])
    func strings(text: String, value: String) throws {
        #expect(try scan(text) { (scanner) throws(JSONError) in try scanner.readString() } == value)
    }

    @Test(
        "refuses invalid JSON with its place",
        arguments: [
            ("", 1, 1, "a value"), ("[1,]", 1, 4, "a value after the comma"),
            ("{\"a\":1,}", 1, 8, "a member name in quotation marks"),
            ("{\"a\" 1}", 1, 6, "a colon"), ("{\n  \"a\": tru\n}", 2, 8, "true or false"),
            ("[1 2]", 1, 4, "a comma or a closing bracket"),
            ("{a:1}", 1, 2, "a member name in quotation marks"), ("01", 1, 2, "a digit"), ("1.", 1, 3, "a digit"),
            ("-", 1, 2, "a digit"),
            ("1e", 1, 3, "a digit"), ("nulls", 1, 1, "null"), ("[1}", 1, 3, "a comma or a closing bracket"),
            ("1 2", 1, 3, "the end of the text"),
            ("\"abc", 1, 5, "a quotation mark that ends the string"),
            (#""\x""#, 1, 2, #"one of \" \\ \/ \b \f \n \r \t \uXXXX"#),
            (#""\uDC00""#, 1, 2, "a high surrogate before a low one"),
            (#""\uD800x""#, 1, 8, "a low surrogate after the high one"),
            ("'a'", 1, 1, "a value"), ("+1", 1, 1, "a value"), ("NaN", 1, 1, "a value"),
            ("\"a\tb\"", 1, 3, #"an escape such as \u0009"#),
        ])
    func refuses(text: String, line: Int, column: Int, expected: String) throws {
        let error = try #require(jsonError(Array(text.utf8)))
        #expect(error.position.line == line)
        #expect(error.position.column == column)
        #expect(error.expected == expected)
    }

    @Test(
        "refuses bytes that are not UTF-8",
        arguments: [
            [0xFF], [0xC0, 0x80], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xC3, 0x28],
        ] as [[UInt8]])
    func utf8(bytes: [UInt8]) throws {
        let error = try #require(jsonError([0x22] + bytes + [0x22]))
        #expect(error.reason == .invalidUTF8)
        #expect(error.position.offset == 1)
    }

    @Test("accepts nesting up to the limit")
    func depth() throws {
        let limit = JSONScanner.maxDepth
        let deep = String(repeating: "[", count: limit) + String(repeating: "]", count: limit)
        #expect(jsonError(Array(deep.utf8)) == nil)
        #expect(try #require(jsonError(Array("[\(deep)]".utf8))).reason == .tooDeep)
    }

    @Test("finds a repeated member on request")
    func duplicates() throws {
        let error = #expect(throws: JSONError.self) {
            try scan(#"{"a":1,"b":2,"\u0061":3}"#) { (scanner) throws(JSONError) in
                var members = JSONMemberSet()
                try scanner.beginObject()
                while let key = try scanner.nextKey() {
                    try members.insert(key, in: scanner)
                    try scanner.skipValue()
                }
            }
        }
        #expect(error?.reason == .duplicateMember("a"))
        #expect(error?.position.offset == 13)
    }

    @Test("distinguishes missing bytes from errors at every prefix")
    func prefixes() throws {
        let text = Array(#"{"a":[1.5e3,true,null,"x\u00e9\uD83D\uDE00é"],"b":{"c":-12}}"#.utf8)
        #expect(jsonError(text) == nil)
        for count in 0..<text.count {
            let prefix = Array(text[..<count])
            #expect(jsonError(prefix, isComplete: false)?.reason == .needsMoreData, "prefix of \(count)")
            #expect(jsonError(prefix)?.reason == .unexpectedEnd, "prefix of \(count)")
        }
    }

    @Test("waits for more if a word may continue", arguments: ["null", "true", "false"])
    func cutWord(word: String) {
        #expect(jsonError(Array(word.utf8)) == nil)
        #expect(jsonError(Array(word.utf8), isComplete: false)?.reason == .needsMoreData)
        #expect(jsonError(Array((word + ",").utf8), isComplete: false)?.reason != .needsMoreData)
        let longer = jsonError(Array((word + "t").utf8))
        #expect(longer?.position.offset == 0)
        #expect(longer == jsonError(Array((word + "t").utf8), isComplete: false))
    }

    @Test("waits for the rest of a byte order mark")
    func cutMark() {
        let text: [UInt8] = [0xEF, 0xBB, 0xBF, UInt8(ascii: "7")]
        #expect(jsonError(text) == nil)
        for count in 1...3 {
            #expect(jsonError(Array(text[..<count]), isComplete: false)?.reason == .needsMoreData, "\(count) bytes")
        }
        #expect(jsonError([0xEF]) != nil && jsonError([0xEF])?.reason != .needsMoreData)
        #expect(jsonError([0xEF, 0xBA], isComplete: false)?.reason == .unexpected("the byte 239"))
    }

    @Test("finds the end of an element that arrives byte by byte")
    func boundary() {
        let text = Array(#"{"a":"}\"]","b":[{}]},{"c""#.utf8)
        var finder = JSONBoundaryFinder()
        var end: Int?
        for (index, byte) in text.enumerated() where end == nil {
            if let found = [byte].withUnsafeBufferPointer({ finder.end(in: $0) }) { end = index + found }
        }
        #expect(end == 21)
    }

    @Test("reads numbers exactly")
    func numbers() throws {
        #expect(try scan("-9223372036854775808") { (s) throws(JSONError) in try s.readInt64() } == Int64.min)
        #expect(try scan("9223372036854775807") { (s) throws(JSONError) in try s.readInt64() } == Int64.max)
        #expect(try scan("1.50e1") { (s) throws(JSONError) in try s.readInt64() } == 15)
        #expect(try scan("0.1") { (s) throws(JSONError) in try s.readDouble() } == 0.1)
        #expect(try scan("-0.0") { (s) throws(JSONError) in try s.readDouble() }.sign == .minus)
        #expect(try scan("5e-324") { (s) throws(JSONError) in try s.readDouble() } == Double.leastNonzeroMagnitude)
        #expect(
            try scan("123456789012345678901234567890.5") { (s) throws(JSONError) in try s.readDouble() }
                == 123456789012345678901234567890.5)
        #expect(try scan("1.50") { (s) throws(JSONError) in try s.readDecimal() }.description == "1.50")
        #expect(
            try scan("99999999999999999999999999999999999999") { (s) throws(JSONError) in try s.readDecimal() }
                .description.count == 38)
    }

    @Test("refuses numbers out of range", arguments: ["9223372036854775808", "-9223372036854775809", "1.5", "1e30"])
    func integerRange(text: String) {
        #expect(throws: JSONError.self) { try scan(text) { (s) throws(JSONError) in try s.readInt64() } }
    }

    @Test("agrees with the standard library on many doubles")
    func doubles() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2000 {
            let value = Double(bitPattern: generator.next())
            guard value.isFinite else { continue }
            #expect(try scan(value.description) { (s) throws(JSONError) in try s.readDouble() } == value)
        }
    }
}
