import Testing

@testable import ODataModel

@Suite("Values keep their written form")
struct ValueTests {
    @Test(
        "A decimal reads and prints its digits",
        arguments: [
            ("0", "0"), ("-1.50", "-1.50"), ("1e3", "1000"), ("1.5E-3", "0.0015"),
            ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
            ("0.00000000000000000000000000000000000001", "0.00000000000000000000000000000000000001"),
            ("100", "100"), ("000.10", "0.10"), ("+7", "7"), ("1E+2", "100"),
        ])
    func decimal(text: String, printed: String) {
        #expect(ODataDecimal(text)?.description == printed)
    }

    @Test(
        "24:00 is midnight of the next day, only with zero seconds",
        arguments: ["24:00", "24:00:00", "24:00:00.0", "24:00:00.000000000000"])
    func endOfDay(time: String) {
        #expect(ODataDateTimeOffset("2026-12-31T\(time)Z") == ODataDateTimeOffset("2027-01-01T00:00:00Z"))
        #expect(ODataDateTime("2026-12-31T\(time)") == ODataDateTime("2027-01-01T00:00:00"))
    }

    @Test(
        "Text that is no decimal or has more than 38 digits is refused",
        arguments: [
            "", "-", ".", "1.2.3", "1e", "1e+", "abc", "1 ", "123456789012345678901234567890123456789", "--1",
            "1e99999",
        ])
    func notDecimal(text: String) {
        #expect(ODataDecimal(text) == nil)
    }

    @Test(
        "ABNF doubleValue: a number may have a plus sign and zeros before it",
        arguments: [
            ("+1.5", 1.5), ("007.5", 7.5), ("-007.5", -7.5), ("+00", 0), ("0.25e2", 25), ("-INF", -.infinity),
        ] as [(String, Double)])
    func double(text: String, value: Double) throws {
        #expect(try ODataValue(lexical: text, type: .double) == .double(value))
        #expect(try ODataValue(lexical: text, type: .single) == .single(Float(value)))
    }

    @Test(
        "Text that is no floating-point number is refused",
        arguments: ["", "+", "-", "--1", "+-1", "-+1", "1.", "+INF"])
    func notDouble(text: String) {
        #expect(throws: LexicalError.self) { try ODataValue(lexical: text, type: .double) }
    }

    @Test("A literal of any size is a decimal or refused, without a crash")
    func decimalLiterals() {
        #expect(12.5 as ODataDecimal == ODataDecimal("12.5"))
        #expect(-0.1 as ODataDecimal == ODataDecimal("-0.1"))
        #expect(ODataDecimal(floatLiteral: .leastNonzeroMagnitude) == ODataDecimal("5e-324"))
        let greatest = ODataDecimal("1.7976931348623157e308")
        #expect(1.7976931348623157e308 as ODataDecimal == greatest)
        #expect(ODataDecimal(floatLiteral: .infinity) == greatest)
        #expect(ODataDecimal(floatLiteral: -.infinity) == ODataDecimal("-1.7976931348623157e308"))
        #expect(ODataDecimal(floatLiteral: .nan) == 0)
    }

    @Test("Decimals compare by value")
    func decimalOrder() throws {
        let one = try #require(ODataDecimal("1.0"))
        #expect(one == ODataDecimal("1.00"))
        #expect(one.hashValue == ODataDecimal("1.00")?.hashValue)
        #expect(try #require(ODataDecimal("-2")) < one)
        #expect(try #require(ODataDecimal("0.999999999999")) < one)
        #expect(try #require(ODataDecimal("1e30")) > one)
    }

    @Test(
        "Dates and times read and print the same text",
        arguments: ["0001-01-01", "9999-12-31", "2000-02-29", "1969-12-31"])
    func dates(text: String) {
        #expect(ODataDate(text)?.description == text)
    }

    @Test("29 February 1900 is refused", arguments: ["1900-02-29", "2000-13-01", "2000-00-10", "20-01-01"])
    func noSuchDate(text: String) {
        #expect(ODataDate(text) == nil)
    }

    @Test(
        "An instant keeps its offset and twelve fractional digits",
        arguments: [
            "2026-11-21T10:00:00Z", "0001-01-01T00:00:00.000000000001+14:00", "1969-12-31T23:59:59.5-05:30",
        ])
    func instants(text: String) {
        #expect(ODataDateTimeOffset(text)?.description == text)
    }

    @Test(
        "A duration reads and prints its canonical form",
        arguments: [
            ("PT0S", "PT0S"), ("-P1DT0.5S", "-P1DT0.5S"), ("PT90M", "PT1H30M"),
            ("P12DT23H59M59.999999999999S", "P12DT23H59M59.999999999999S"),
        ])
    func durations(text: String, printed: String) {
        #expect(ODataDuration(text)?.description == printed)
    }

    @Test("A GUID reads either case and prints lower case")
    func guid() {
        #expect(
            ODataGuid("01234567-89AB-cdef-0123-456789abcdef")?.description == "01234567-89ab-cdef-0123-456789abcdef")
        #expect(ODataGuid("01234567-89AB-cdef-0123-456789abcde") == nil)
    }

    @Test("numbers from a damaged file give distant dates without a crash", arguments: [Int64.min, Int64.max])
    func extremes(number: Int64) {
        #expect(!ODataDate(daysSinceEpoch: number).description.isEmpty)
        #expect(!ODataDateTime(seconds: number, picoseconds: number).description.isEmpty)
        #expect(!ODataDateTimeOffset(seconds: number, offsetMinutes: 900).description.isEmpty)
        #expect(!ODataDuration(seconds: number, picoseconds: 1).description.isEmpty)
    }
}
