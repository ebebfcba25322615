import ODataModel
import Testing

@testable import OfflineOData

@Suite("Instants of the engine")
struct InstantTests {
    @Test("advance by fractional durations in both directions")
    func advance() {
        let start = ODataDateTimeOffset(seconds: 10, picoseconds: 500_000_000_000)
        #expect(start.advanced(by: .seconds(3)) == ODataDateTimeOffset(seconds: 13, picoseconds: 500_000_000_000))
        #expect(
            start.advanced(by: .milliseconds(750)) == ODataDateTimeOffset(seconds: 11, picoseconds: 250_000_000_000))
        #expect(
            start.advanced(by: .milliseconds(-750)) == ODataDateTimeOffset(seconds: 9, picoseconds: 750_000_000_000))
        #expect(
            start.advanced(by: .milliseconds(-250)) == ODataDateTimeOffset(seconds: 10, picoseconds: 250_000_000_000))
        #expect(start.advanced(by: .seconds(-11)) == ODataDateTimeOffset(seconds: -1, picoseconds: 500_000_000_000))
        #expect(start.advanced(by: .zero) == start)
    }

    @Test(
        "are read from HTTP dates",
        arguments: [0, 784_111_777, 1_790_000_000, 951_782_400] as [Int64])
    func httpDates(seconds: Int64) throws {
        let environment = EngineEnvironment(
            now: { ODataDateTimeOffset(seconds: seconds, picoseconds: 1_234_567_890) }, newGuid: { .random() },
            sleep: { _ in })
        #expect(ODataDateTimeOffset.httpDate(environment.httpDate) == ODataDateTimeOffset(seconds: seconds))
        #expect(environment.instant == ODataDateTimeOffset(seconds: seconds, picoseconds: 1_000_000_000))
    }

    @Test(
        "are not read from other texts",
        arguments: ["", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Foo 1994 08:49:37 GMT", "a b c d e f"])
    func noHTTPDate(text: String) {
        #expect(ODataDateTimeOffset.httpDate(text) == nil)
    }
}
