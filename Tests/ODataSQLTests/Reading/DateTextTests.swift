import ODataModel
import Testing

@testable import ODataSQL

@Suite("Dates that are copied as stored texts")
struct DateTextTests {
    private func isDate(_ text: String) -> Bool { Array(text.utf8).withUnsafeBufferPointer { DateText.isDate($0) } }

    private func isInstant(_ text: String, _ separator: Character, hasZ: Bool) -> Bool {
        Array(text.utf8).withUnsafeBufferPointer {
            DateText.isInstant($0, separator: separator.asciiValue ?? 0, hasZ: hasZ)
        }
    }

    @Test("accept each day of the calendar in the standard form")
    func everyDay() throws {
        for days in stride(from: Int64(-719_162), through: 2_932_896, by: 61) {
            #expect(isDate(ODataDate(daysSinceEpoch: days).description))
        }
        for year in [1, 4, 100, 400, 1900, 2000, 2023, 2024] {
            for month in 0...13 {
                for day in 0...32 {
                    let text =
                        String(repeating: "0", count: 4 - String(year).count) + "\(year)"
                        + (month < 10 ? "-0\(month)" : "-\(month)") + (day < 10 ? "-0\(day)" : "-\(day)")
                    #expect(isDate(text) == (ODataDate(text)?.description == text), "\(text)")
                }
            }
        }
    }

    @Test(
        "refuse every other text",
        arguments: [
            "", "2026-1-01", "2026-01-1", "2026-01-011", "0000-01-01", "-001-01-01", "2026/01/01", "2026-01-0a",
            "2026-0١-1",
            "20261-01-1", " 026-01-01",
        ])
    func otherDates(text: String) { #expect(!isDate(text)) }

    @Test("accept a time in the form of the column")
    func instants() {
        #expect(isInstant("2026-02-28 23:59:59", " ", hasZ: false))
        #expect(isInstant("2026-02-28T00:00:00Z", "T", hasZ: true))
        for text in [
            "2026-02-28T23:59:59", "2026-02-28 24:00:00", "2026-02-28 23:60:59", "2026-02-28 23:59:60",
            "2026-02-28 23:59", "2026-02-28 23:59:59Z", "2026-02-28 23-59-59", "2026-02-29 23:59:59",
            "2026-02-28 2a:59:59",
        ] {
            #expect(!isInstant(text, " ", hasZ: false), "\(text)")
        }
        #expect(!isInstant("2026-02-28T00:00:00 ", "T", hasZ: true))
    }
}
