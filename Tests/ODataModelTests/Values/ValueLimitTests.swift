import ODataModel
import TestModels
import Testing

@Suite("Values at their limits")
struct ValueLimitTests {
    let model: EntityDataModel

    init() throws { model = try SampleModel.make() }

    private func read(_ json: String, _ type: PrimitiveType) throws -> ODataValue {
        try ODataValue(json: Array(json.utf8), type: .primitive(type), model: model)
    }

    private func written(_ value: ODataValue, _ type: PrimitiveType) -> String {
        var writer = JSONWriter()
        writer.value(value, type: .primitive(type), model: model)
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    @Test(
        "The smallest and largest value of each type is read and written in JSON and text",
        arguments: [
            (.sbyte, "-128"), (.sbyte, "127"), (.byte, "0"), (.byte, "255"), (.int16, "-32768"), (.int16, "32767"),
            (.int32, "-2147483648"), (.int32, "2147483647"), (.int64, "-9223372036854775808"),
            (.int64, "9223372036854775807"), (.decimal, "99999999999999999999999999999999999999"),
            (.decimal, "-99999999999999999999999999999999999999"),
            (.decimal, "0.00000000000000000000000000000000000001"),
            (.decimal, "-12345678901234567890.123456789012345678"),
            (.decimal, "1.50"), (.double, "1.7976931348623157e+308"), (.double, "5e-324"), (.double, "0.1"),
            (.single, "3.4028235e+38"), (.single, "1e-45"), (.single, "0.1"),
            (.double, "\"INF\""), (.double, "\"-INF\""), (.double, "\"NaN\""), (.single, "\"INF\""),
            (.single, "\"-INF\""),
            (.date, "\"0001-01-01\""), (.date, "\"9999-12-31\""), (.date, "\"-0044-03-15\""), (.date, "\"0000-02-29\""),
            (.date, "\"12026-01-01\""), (.date, "\"-999999-01-01\""), (.date, "\"999999-12-31\""),
            (.timeOfDay, "\"00:00:00\""), (.timeOfDay, "\"23:59:59.999999999999\""),
            (.dateTimeOffset, "\"0001-01-01T00:00:00Z\""), (.dateTimeOffset, "\"9999-12-31T23:59:59.999999999999Z\""),
            (.dateTimeOffset, "\"2026-11-21T00:00:00.000000000001-14:00\""),
            (.dateTimeOffset, "\"2026-11-21T00:00:00+14:00\""), (.dateTimeOffset, "\"-0001-06-30T12:00:00.5+05:45\""),
            (.dateTime, "\"1753-01-01T00:00:00\""), (.duration, "\"PT0S\""), (.duration, "\"-P999999999999D\""),
            (.duration, "\"P1DT23H59M59.999999999999S\""), (.duration, "\"-PT0.000000000001S\""),
            (.guid, "\"00000000-0000-0000-0000-000000000000\""), (.guid, "\"ffffffff-ffff-ffff-ffff-ffffffffffff\""),
            (.binary, "\"\""), (.binary, "\"_-8\""), (.string, "\"\""), (.string, "\"\\u0000\u{10FFFF}\""),
            (.boolean, "true"), (.boolean, "false"),
        ] as [(PrimitiveType, String)])
    func limits(type: PrimitiveType, json: String) throws {
        let value = try read(json, type)
        #expect(written(value, type) == json)
        if type != .string {
            let text = json.hasPrefix("\"") ? String(json.dropFirst().dropLast()) : json
            let again = try ODataValue(lexical: text, type: type)
            #expect(again == value || text == "NaN")
            #expect(try ODataValue(lexical: value.lexicalText ?? "", type: type).lexicalText == value.lexicalText)
        }
    }

    @Test(
        "A value beyond the range is refused with its place",
        arguments: [
            (.sbyte, "-129"), (.sbyte, "128"), (.byte, "-1"), (.byte, "256"), (.int16, "32768"), (.int32, "2147483648"),
            (.int64, "9223372036854775808"), (.int64, "-9223372036854775809"), (.int32, "1.5"), (.int64, "1e19"),
            (.decimal, "999999999999999999999999999999999999999"), (.decimal, "1e10001"), (.decimal, "\"inf\""),
            (.double, "1e309"), (.single, "3.5e38"), (.single, "\"inf\""), (.double, "\"Infinity\""),
            (.date, "\"2026-02-29\""), (.date, "\"10000-13-01\""), (.date, "\"1000000-01-01\""),
            (.date, "\"02026-01-01\""),
            (.date, "\"26-01-01\""), (.date, "\"2026-1-01\""), (.date, "\"2026-01-01T\""), (.date, "\"+2026-01-01\""),
            (.timeOfDay, "\"24:00:00\""), (.timeOfDay, "\"23:60:00\""), (.timeOfDay, "\"23:59:61\""),
            (.timeOfDay, "\"00:00:00.0000000000001\""), (.dateTimeOffset, "\"2026-11-21T00:00:00\""),
            (.dateTimeOffset, "\"2026-11-21T00:00:00+14:01\""), (.dateTimeOffset, "\"2026-11-21T00:00:00.Z\""),
            (.dateTimeOffset, "\"2026-11-21T24:0:0Z\""), (.dateTimeOffset, "\"2026-11-21T24::::Z\""),
            (.dateTimeOffset, "\"2026-11-21T24Z\""), (.dateTimeOffset, "\"2026-11-21T24:00:01Z\""),
            (.dateTimeOffset, "\"2026-11-21T24:00:00.5Z\""), (.dateTimeOffset, "\"2026-11-21T24:00:00:00Z\""),
            (.duration, "\"P\""), (.duration, "\"PT\""), (.duration, "\"P1M\""), (.duration, "\"PT1S1H\""),
            (.guid, "\"00000000-0000-0000-0000-00000000000g\""), (.guid, "\"00000000_0000-0000-0000-000000000000\""),
            (.guid, "\":0000000-0000-0000-0000-000000000000\""), (.guid, "\"@0000000-0000-0000-0000-000000000000\""),
            (.guid, "\"{0000000-0000-0000-0000-00000000000}\""), (.binary, "\"A\""), (.binary, "\"A*==\""),
            (.boolean, "1"), (.boolean, "\"true\""), (.string, "1"), (.int32, "true"), (.date, "20260101"),
        ] as [(PrimitiveType, String)])
    func beyond(type: PrimitiveType, json: String) {
        let error = #expect(throws: JSONError.self) { try read(json, type) }
        #expect(error?.position.offset == 0)
        #expect(error?.expected.isEmpty == false)
    }

    @Test("A decimal keeps its digits for every exponent within 38 digits")
    func exponents() throws {
        for exponent in -60...40 {
            let value = try #require(ODataDecimal("12345e\(exponent)"))
            #expect(ODataDecimal(value.description) == value)
            #expect(try read("12345e\(exponent)", .decimal) == .decimal(value))
        }
        #expect(ODataDecimal("1e-10000")?.description == "1E-10000")
        #expect(ODataDecimal(isNegative: true, magnitude: 1, scale: 10_001) == nil)
        #expect(ODataDecimal(isNegative: true, magnitude: 0, scale: 0)?.isNegative == false)
        #expect(ODataDecimal(1).rescaled(to: .min) == nil)
        #expect(ODataDecimal("0.5")?.digitCount == 1)
    }

    @Test("GUID digits are read in either case, and other bytes are refused")
    func guidDigits() throws {
        for byte in UInt8.min...UInt8.max {
            var text = Array("01234567-89ab-cdef-0123-456789abcdef".utf8)
            for index in [0, 7, 9, 17, 19, 35] {
                let before = text[index]
                text[index] = byte
                let isDigit = (48...57).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte)
                let guid = ODataGuid(lexical: text)
                #expect((guid != nil) == isDigit)
                if let guid {
                    #expect(
                        Array(guid.description.utf8) == Array(String(decoding: text, as: UTF8.self).lowercased().utf8))
                }
                text[index] = before
            }
        }
    }

    @Test("Instants order by time, then by offset")
    func order() throws {
        let texts = [
            "2026-01-01T00:00:00.000000000001Z", "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z",
            "2025-12-31T10:00:00-14:00", "0001-01-01T00:00:00Z",
        ]
        let sorted = try texts.map { try #require(ODataDateTimeOffset($0)) }.sorted().map(\.description)
        #expect(
            sorted == [
                "0001-01-01T00:00:00Z", "2025-12-31T10:00:00-14:00", "2026-01-01T00:00:00Z",
                "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00.000000000001Z",
            ])
    }
}
