import Testing

@testable import ODataModel

@Suite("The JSON writer")
struct JSONWriterTests {
    private func written(_ body: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        body(&writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test("puts commas between values")
    func commas() {
        let text = written { writer in
            writer.beginObject()
            writer.key("a")
            writer.beginArray()
            writer.integer(1)
            writer.null()
            writer.beginObject()
            writer.endObject()
            writer.endArray()
            writer.key(JSONWriter.Key("b\""))
            writer.boolean(false)
            writer.key("c")
            writer.raw("[1]".utf8)
            writer.endObject()
        }
        #expect(text == #"{"a":[1,null,{}],"b\"":false,"c":[1]}"#)
    }

    @Test("escapes only the characters that need it")
    func escapes() {
        #expect(written { $0.string("a\"b\\c/d\n\u{1}\u{1F}\u{7F}é😀") } == "\"a\\\"b\\\\c/d\\n\\u0001\\u001f\u{7F}é😀\"")
    }

    @Test("writes the shortest numbers that read back the same")
    func numbers() {
        #expect(written { $0.double(0.1) } == "0.1")
        #expect(written { $0.double(3) } == "3")
        #expect(written { $0.double(-0.0) } == "-0.0")
        #expect(written { $0.double(1e300) } == "1e+300")
        #expect(written { $0.single(0.1) } == "0.1")
        #expect(written { $0.double(.infinity) } == "\"INF\"")
        #expect(written { $0.double(-.infinity) } == "\"-INF\"")
        #expect(written { $0.single(.nan) } == "\"NaN\"")
        #expect(written { $0.integer(.min) } == "-9223372036854775808")
        #expect(written { $0.integer(0) } == "0")
        #expect(written { $0.decimal(ODataDecimal("-1.50") ?? ODataDecimal(0)) } == "-1.50")
    }

    @Test("writes JSON that the scanner reads back")
    func roundTrip() throws {
        let text = "every \u{0}\u{8} kind \" of \\ char / é 漢 😀 \u{2028}"
        #expect(try scan(written { $0.string(text) }) { (s) throws(JSONError) in try s.readString() } == text)
    }
}
