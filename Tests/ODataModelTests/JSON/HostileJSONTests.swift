import ODataModel
import TestModels
import Testing

@Suite("Hostile JSON")
struct HostileJSONTests {
    let model: EntityDataModel

    init() throws { model = try SampleModel.make() }

    private func read(_ bytes: [UInt8], _ type: String) throws(JSONError) -> ODataValue {
        try ODataValue(json: bytes, type: model.typeReference(type), model: model)
    }

    /// Ten documents that cover all JSON syntax.
    static let documents: [(String, String)] = [
        (#"{"Street":"Häßlich 漢字 😀","Zip":-12}"#, "Shop.Address"),
        (
            ##"[{"Zip":1},{"@odata.type":"#Shop.AddressAbroad","Country":"x","Free":[1.5e3,null]}]"##,
            "Collection(Shop.Address)"
        ),
        (#"["Red","Red,Blue",4]"#, "Collection(Shop.Color)"),
        (#"[1.50,"99999999999999999999999999999999999999",1e-5]"#, "Collection(Edm.Decimal)"),
        (#"["2026-11-21T10:00:00.123456789012+14:00"]"#, "Collection(Edm.DateTimeOffset)"),
        (#""\"\\\/\b\f\n\r\té😀""#, "Edm.String"),
        (#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}"#, "Edm.GeographyPolygon"),
        (#"{"a":{"b":[true,false,null,{"c":[[],{}]}]}}"#, "Edm.Untyped"),
        (#"["01234567-89ab-cdef-0123-456789abcdef","T0RhdGE"]"#, "Collection(Edm.Untyped)"),
        ("\u{FEFF}[ \"INF\" ,\t-0.0,\r\n 5e-324 ]", "Collection(Edm.Double)"),
    ]

    @Test("Every prefix of a document gives a typed error with its end as the place", arguments: documents)
    func prefixes(text: String, type: String) throws {
        let bytes = Array(text.utf8)
        #expect(try read(bytes, type).isNull == false)
        for count in 0..<bytes.count {
            let error = #expect(throws: JSONError.self) { try read(Array(bytes[..<count]), type) }
            #expect((error?.position.offset ?? -1) <= count)
        }
    }

    @Test("A document with any changed byte gives a value or a typed error", arguments: documents)
    func changes(text: String, type: String) {
        var bytes = Array(text.utf8)
        for index in bytes.indices {
            let before = bytes[index]
            for byte: UInt8 in [
                0, 0x1F, 0x20, 0x22, 0x2C, 0x30, 0x5B, 0x5C, 0x5D, 0x7B, 0x7D, 0x7F, 0x80, 0xC0, 0xED, 0xF5, 0xFF,
            ] {
                bytes[index] = byte
                do throws(JSONError) {
                    _ = try read(bytes, type)
                } catch {
                    #expect(error.position.offset <= bytes.count)
                }
            }
            bytes[index] = before
        }
    }

    @Test(
        "Wrong UTF-8 is refused with its position",
        arguments: [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xE0, 0x80, 0x80], [0xED, 0xA0, 0x80], [0xF0, 0x80, 0x80, 0x80],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xC3, 0x28], [0xE2, 0x82, 0x28],
        ] as [[UInt8]])
    func encoding(_ wrong: [UInt8]) {
        let error = #expect(throws: JSONError.self) {
            try read(Array("\"abc".utf8) + wrong + Array("\"".utf8), "Edm.String")
        }
        #expect(error?.reason == .invalidUTF8)
        #expect(error?.position.offset == 4)
    }

    @Test("Unpaired surrogates are refused with their position")
    func surrogates() {
        for text in [#""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, #""\ud800\ud800""#, #""\ud800x""#] {
            #expect(throws: JSONError.self) { try read(Array(text.utf8), "Edm.String") }
        }
    }

    @Test("Numbers with a megabyte of digits are read or refused")
    func longNumbers() throws {
        let zeros = [UInt8](repeating: 48, count: 1_000_000)
        let nines = [UInt8](repeating: 57, count: 1_000_000)
        #expect(try read(Array("1.".utf8) + zeros, "Edm.Decimal") == .decimal(ODataDecimal(1)))
        #expect(try read(Array("1.".utf8) + zeros, "Edm.Int32") == .integer(1))
        for type in ["Edm.Decimal", "Edm.Int64", "Edm.Double", "Edm.Single", "Edm.Byte"] {
            #expect(throws: JSONError.self) { try read(nines, type) }
            #expect(throws: JSONError.self) { try read(Array("1e".utf8) + nines, type) }
            #expect(throws: JSONError.self) { try read(Array("\"".utf8) + nines + Array("\"".utf8), type) }
        }
        #expect(try read(Array("0.".utf8) + zeros + Array("1".utf8), "Edm.Double") == .double(0))
    }

    @Test("A repeated member is refused in any spelling")
    func duplicates() {
        for text in [#"{"Zip":1,"Zip":2}"#, #"{"Zip":1,"Street":null,"Z\u0069p":2}"#] {
            let error = #expect(throws: JSONError.self) { try read(Array(text.utf8), "Shop.Address") }
            #expect(error?.reason == .duplicateMember("Zip"))
            #expect(error?.description.contains("the member \"Zip\" appears twice") == true)
        }
    }

    @Test("Nesting is accepted up to the limit")
    func depth() throws {
        func text(_ depth: Int) -> [UInt8] {
            [UInt8](repeating: 0x5B, count: depth) + [UInt8](repeating: 0x5D, count: depth)
        }
        #expect(try read(text(JSONScanner.maxDepth), "Edm.Untyped").isNull == false)
        let error = #expect(throws: JSONError.self) { try read(text(JSONScanner.maxDepth + 1), "Edm.Untyped") }
        #expect(error?.reason == .tooDeep)
        #expect(throws: JSONError.self) { try read([UInt8](repeating: 0x5B, count: 1_000_000), "Edm.Untyped") }
        #expect(throws: JSONError.self) {
            try read(Array(String(repeating: #"{"a":"#, count: 100_000).utf8), "Edm.Untyped")
        }
    }
}
