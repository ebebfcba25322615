import HTTPTypes
import ODataModel
import ODataService
import Testing

@testable import ODataHTTP

/// Ranges of streams (RFC 9110, 14).
@Suite struct RangeTests {
    private func selection(_ range: String, length: Int64 = 10, ifRange: String? = nil) -> RangeRequest.Selection {
        var fields = HTTPFields()
        fields[.range] = range
        fields[.ifRange] = ifRange
        return RangeRequest(fields)?.selection(of: length, etag: "\"1\"") ?? .whole
    }

    @Test(
        "RFC 9110, 14.1.2 all forms of a range are read",
        arguments: [
            ("bytes=0-0", 0, 1), ("bytes=2-4", 2, 5), ("Bytes = 3-", 3, 10), ("bytes=8-99999999999999999999", 8, 10),
            ("bytes=-3", 7, 10), ("bytes=-99", 0, 10),
        ])
    func forms(_ text: String, _ lower: Int64, _ upper: Int64) {
        #expect(selection(text) == .part(lower..<upper))
    }

    @Test(arguments: ["bytes=10-", "bytes=10-12", "bytes=-0"])
    func `a range behind the end cannot be satisfied`(text: String) {
        #expect(selection(text) == .unsatisfiable)
        #expect(selection("bytes=0-", length: 0) == .unsatisfiable)
    }

    @Test(arguments: [
        "bytes=4-2", "bytes=a-b", "bytes", "lines=1-2", "bytes=0-1,3-4", "bytes=", "bytes=--1", "bytes=+1-2",
    ])
    func `several ranges, or an invalid one, are ignored`(text: String) {
        #expect(selection(text) == .whole)
    }

    @Test("RFC 9110, 13.1.5 If-Range needs the same strong tag")
    func ifRange() {
        #expect(selection("bytes=1-2", ifRange: "\"1\"") == .part(1..<3))
        #expect(selection("bytes=1-2", ifRange: "\"2\"") == .whole)
        #expect(selection("bytes=1-2", ifRange: "W/\"1\"") == .whole)
        #expect(selection("bytes=1-2", ifRange: "Sun, 06 Nov 1994 08:49:37 GMT") == .whole)
    }

    private func photo(_ fields: String, etag: String? = "\"1\"") async throws -> String {
        let provider = try ScriptedProvider { _ in
            let chunks = ["01", "234", "56789"].map { Array($0.utf8) }
            let position = Position()
            let stream = ByteStream(length: 10) {
                let next = await position.next()
                return next < chunks.count ? chunks[next] : nil
            }
            return ODataResponse(body: .raw(stream, contentType: "image/png"), etag: etag)
        }
        let handler = try ODataHandler(provider: provider, serviceRoot: "/service/")
        let (message, body) = Transcript.request("GET /service/Photos(1)/$value\n\(fields)\n")
        var (response, stream) = await handler.handle(message, body)
        response.headerFields[.vary] = nil
        // The fields that prevent browsers from executing the content.
        response.headerFields[.xContentTypeOptions] = nil
        response.headerFields[.contentSecurityPolicy] = nil
        response.headerFields[.contentDisposition] = nil
        return try await Transcript.text(response, stream)
    }

    private actor Position {
        private var value = -1
        func next() -> Int {
            value += 1
            return value
        }
    }

    @Test("11.2.3 a range of a media stream is 206 with Content-Range")
    func part() async throws {
        #expect(
            try await photo("Range: bytes=1-5\n") == """
                206
                OData-Version: 4.01
                ETag: "1"
                Content-Type: image/png
                Accept-Ranges: bytes
                Content-Range: bytes 1-5/10
                Content-Length: 5

                12345
                """)
        #expect(try await photo("Range: bytes=-2\n").hasSuffix("\n\n89"))
        let whole = try await photo("Range: bytes=0-1, 3-4\n")
        #expect(whole.hasPrefix("200\n") && whole.contains("Accept-Ranges: bytes\n") && whole.hasSuffix("0123456789"))
    }

    @Test("11.2.3 a range beyond the end is 416 with the length")
    func unsatisfiable() async throws {
        let text = try await photo("Range: bytes=10-\n")
        #expect(text.hasPrefix("416\n") && text.contains("Content-Range: bytes */10\n"))
        #expect(text.contains("\"code\":\"RangeNotSatisfiable\""))
    }
}
