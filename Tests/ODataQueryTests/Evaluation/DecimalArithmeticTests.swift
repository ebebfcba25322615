import ODataModel
import ODataQuery
import Testing

@Suite("Arithmetic of decimals and durations")
struct DecimalArithmeticTests {
    @Test(
        "Division has 28 digits and rounds half to even",
        arguments: [
            ("1", "3", "0.3333333333333333333333333333"),
            ("2", "3", "0.6666666666666666666666666667"), ("10", "4", "2.5"), ("-1", "8", "-0.125"), ("1", "0", "nil"),
            ("12345678901234567890123456789012345678", "1", "12345678901234567890123456789012345678"),
        ])
    func division(left: String, right: String, expected: String) throws {
        let quotient = DecimalArithmetic.divide(try #require(ODataDecimal(left)), try #require(ODataDecimal(right)))
        #expect(quotient?.description ?? "nil" == expected)
    }

    @Test("Rounding functions accept any number of digits")
    func rounding() throws {
        func round(_ text: String, _ rounding: DecimalArithmetic.Rounding) throws -> String? {
            DecimalArithmetic.round(try #require(ODataDecimal(text)), rounding)?.description
        }
        #expect(try round("-2.5", .halfAwayFromZero) == "-3" && round("2.5", .halfAwayFromZero) == "3")
        #expect(try round("-2.5", .down) == "-3" && round("-2.5", .up) == "-2" && round("-2.9", .towardZero) == "-2")
        #expect(try round("1e-50", .up) == "1" && round("1e-50", .halfAwayFromZero) == "0")
    }

    @Test("Overflowing durations and instants are errors and never wrap")
    func durations() throws {
        let greatest = DateArithmetic.total(seconds: .max, picoseconds: 999_999_999_999)
        #expect(throws: EvaluationError.overflow("date arithmetic")) { try DateArithmetic.parts(of: greatest + 1) }
        #expect(try DateArithmetic.parts(of: -1) == (-1, 999_999_999_999))
        let half = try #require(ODataDecimal("0.5"))
        #expect(try DateArithmetic.scale(-3, by: half, DecimalArithmetic.multiply) == -1)
        #expect(try DateArithmetic.scale(3, by: ODataDecimal(0), DecimalArithmetic.divide) == nil)
        #expect(throws: EvaluationError.self) { try DateArithmetic.days(.max, plus: 86_400_000_000_000_000) }
    }
}
