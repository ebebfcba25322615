import ODataModel
import Testing

@testable import ODataFormat

@Suite("Multipart batches")
struct MultipartBatchTests {
    private let request = """
        preamble
        --b
        Content-Type: application/http
        Content-Transfer-Encoding: binary

        GET Orders(1)?$filter=Name eq 'x' HTTP/1.1
        Accept: application/json


        --b
        Content-Type: multipart/mixed; boundary="changeset_1"

        --changeset_1
        Content-Type: application/http
        Content-ID: 7

        POST Orders HTTP/1.1
        Content-Type: application/json
        X-Folded: a
          b

        {"ID":1}

        line
        --changeset_1
        content-type: APPLICATION/HTTP
        Content-ID: 8

        DELETE $7 HTTP/1.1

        --changeset_1--

        --b--
        epilogue
        """

    @Test("are read with either line ending", arguments: ["\n", "\r\n"])
    func read(ending: String) throws {
        let text = request.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: ending)
        let parts = try MultipartBatch.readRequest(Array(text.utf8), boundary: "b")
        #expect(parts.count == 3)
        #expect(parts[0].method == "GET" && parts[0].url == "Orders(1)?$filter=Name eq 'x'")
        #expect(parts[0].headers == [BatchHeader("Accept", "application/json")])
        #expect(parts[0].body.isEmpty && parts[0].atomicityGroup == nil)
        #expect(parts[1].id == "7" && parts[1].atomicityGroup == "1")
        #expect(parts[1].headers.value(of: "x-folded") == "a b")
        #expect(String(decoding: parts[1].body, as: UTF8.self) == "{\"ID\":1}\(ending)\(ending)line")
        #expect(parts[2].url == "$7" && parts[2].body.isEmpty)
    }

    @Test("a folded line of blanks adds nothing to its field")
    func foldedBlanks() throws {
        let part = "--b\nContent-Type: application/http\n\nGET Orders HTTP/1.1\nX-One: a,\n \t \nX-Two:\n b\n\n\n--b--"
        let read = try MultipartBatch.readRequest(Array(part.utf8), boundary: "b")
        #expect(read.first?.headers == [BatchHeader("X-One", "a,"), BatchHeader("X-Two", "b")])
    }

    @Test("a body of empty lines is kept if Content-Length includes it", arguments: ["\n", "\r\n", "\n\n"])
    func linesAsBody(body: String) throws {
        let part = BatchRequestPart(
            method: "POST", url: "A", headers: [BatchHeader("Content-Length", "\(body.utf8.count)")],
            body: Array(body.utf8))
        #expect(
            try MultipartBatch.readRequest(MultipartBatch.writeRequest([part], boundary: "b"), boundary: "b") == [part])
    }

    @Test("a written batch reads back the same")
    func roundTrip() throws {
        let requests = [
            BatchRequestPart(method: "GET", url: "A"),
            BatchRequestPart(
                id: "1", method: "POST", url: "B", headers: [BatchHeader("Content-Type", "application/json")],
                body: Array("{}\r\n".utf8), atomicityGroup: "g"),
            BatchRequestPart(id: "2", method: "DELETE", url: "$1", atomicityGroup: "g"),
            BatchRequestPart(id: "3", method: "PUT", url: "C", body: [0, 255, 13, 10, 45, 45], atomicityGroup: "h"),
        ]
        let bytes = MultipartBatch.writeRequest(requests, boundary: "batch_x")
        #expect(try MultipartBatch.readRequest(bytes, boundary: "batch_x") == requests)
        let responses = [
            BatchResponsePart(
                id: "1", status: 201, headers: [BatchHeader("ETag", "x")], body: Array("{}".utf8), atomicityGroup: "g"),
            BatchResponsePart(status: 404),
        ]
        let answer = MultipartBatch.writeResponse(responses, boundary: "r")
        #expect(try MultipartBatch.readResponse(answer, boundary: "r") == responses)
    }

    @Test("two change sets with the same boundary stay separate, with their own content ids")
    func sameBoundary() throws {
        func set(_ id: String) -> String {
            """
            --b
            Content-Type: multipart/mixed; boundary=changeset_1

            --changeset_1
            Content-Type: application/http
            Content-ID: \(id)

            DELETE A(1) HTTP/1.1

            --changeset_1--

            """
        }
        let text = set("1") + "\n" + set("1") + "\n--b--"
        let parts = try MultipartBatch.readRequest(Array(text.utf8), boundary: "b")
        #expect(parts.map(\.id) == ["1", "1"])
        #expect(parts.map(\.atomicityGroup) == ["1", "1-2"])
        let written = MultipartBatch.writeRequest(parts, boundary: "x")
        #expect(try MultipartBatch.readRequest(written, boundary: "x") == parts)
        // Groups that differ only after the maximum length of a boundary remain separate.
        let long = ["a", "b"].map {
            BatchRequestPart(
                method: "DELETE", url: "A(1)", atomicityGroup: String(repeating: "g", count: 60) + $0)
        }
        let groups = try MultipartBatch.readRequest(MultipartBatch.writeRequest(long, boundary: "x"), boundary: "x")
            .map(\.atomicityGroup)
        #expect(Set(groups).count == 2)
    }

    @Test("a Content-ID in the headers of a request does not replace that of its part")
    func innerContentID() throws {
        let parts = [
            BatchRequestPart(id: "1", method: "GET", url: "A", headers: [BatchHeader("Content-ID", "2")]),
            BatchRequestPart(id: "3", method: "GET", url: "A", headers: [BatchHeader("content-id", "3")]),
        ]
        let written = MultipartBatch.writeRequest(parts, boundary: "b")
        #expect(try MultipartBatch.readRequest(written, boundary: "b") == parts)
        #expect(String(decoding: written, as: UTF8.self).components(separatedBy: "-ID: 1").count == 2)
        #expect(!String(decoding: written, as: UTF8.self).contains("Content-ID: 3"))
    }

    @Test("lines end with carriage return and line feed, and headers are written once")
    func golden() {
        let part = BatchRequestPart(
            id: "1", method: "GET", url: "Orders\r\nEvil: x", headers: [BatchHeader("Accept", "a\nb")])
        let text = String(decoding: MultipartBatch.writeRequest([part], boundary: "b"), as: UTF8.self)
        #expect(
            text
                == "--b\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\nContent-ID: 1\r\n\r\nGET OrdersEvil: x HTTP/1.1\r\nAccept: ab\r\n\r\n\r\n--b--\r\n"
        )
    }

    @Test(
        "a malformed batch is refused with the line and the expected content",
        arguments: [
            ("", .noPart(boundary: "b"), 1),
            ("--b\nContent-Type: application/http\n\nGET A HTTP/1.1\n", .notClosed(boundary: "b"), 5),
            ("--b\n\nGET A HTTP/1.1\n--b--", .unexpectedContentType(nil), 2),
            ("--b\nContent-Type: text/plain\n\n\n--b--", .unexpectedContentType("text/plain"), 2),
            ("--b\nContent-Type\n\n--b--", .malformedHeader("Content-Type"), 2),
            ("--b\nContent-Type: application/http\n\nGET\n--b--", .malformedStartLine("GET"), 4),
            ("--b\nContent-Type: application/http\n\nGET HTTP/1.1\n--b--", .malformedStartLine("GET HTTP/1.1"), 4),
            ("--b\nContent-Type: application/http\n\n--b--", .malformedStartLine(""), 4),
            ("--b\nContent-Type: multipart/mixed\n\n--b--", .noBoundary("multipart/mixed"), 2),
            ("--b\nContent-Type: multipart/mixed;boundary=c\n\n--c--\n--b--", .emptyChangeSet, 2),
            (
                "--b\nContent-Type: multipart/mixed;boundary=c\n\n--c\nContent-Type: multipart/mixed;boundary=d\n\n--d--\n--c--\n--b--",
                .nestedChangeSet, 5
            ),
            (
                "--b\nContent-Type: application/http\nContent-Transfer-Encoding: base64\n\nGET A HTTP/1.1\n--b--",
                .unsupportedEncoding("base64"), 2
            ),
        ] as [(String, BatchError.Reason, Int)])
    func refused(text: String, reason: BatchError.Reason, line: Int) {
        let error = #expect(throws: BatchError.self) { try MultipartBatch.readRequest(Array(text.utf8), boundary: "b") }
        #expect(error?.reason == reason)
        #expect(error?.line == line)
    }

    @Test("a combining mark behind the colon of a header field belongs to its value")
    func combiningMark() throws {
        let text = "--b\nContent-Type: application/http\n\nGET A HTTP/1.1\nSlug:\u{301}a\n\n--b--"
        let parts = try MultipartBatch.readRequest(Array(text.utf8), boundary: "b")
        #expect(parts.first?.headers.value(of: "Slug") == "\u{301}a")
    }

    @Test("a request line needs no version, and its URL may contain spaces")
    func requestLines() throws {
        for (line, url) in [("GET A", "A"), ("GET A?$filter=x eq 1", "A?$filter=x eq 1"), ("get A HTTP/1.1", "A")] {
            let text = "--b\nContent-Type: application/http\n\n\(line)\nHost: h\n\n--b--"
            let parts = try MultipartBatch.readRequest(Array(text.utf8), boundary: "b")
            #expect(parts.map(\.url) == [url])
            #expect(parts.first?.headers == [BatchHeader("Host", "h")])
        }
    }

    @Test("one part, one header or one byte too many is refused")
    func limits() throws {
        let part = BatchRequestPart(method: "GET", url: "A")
        func read(_ parts: [BatchRequestPart]) throws(BatchError) -> Int {
            try MultipartBatch.readRequest(MultipartBatch.writeRequest(parts, boundary: "b"), boundary: "b").count
        }
        #expect(try read(Array(repeating: part, count: BatchPartLimits.maxParts)) == BatchPartLimits.maxParts)
        let parts = #expect(throws: BatchError.self) {
            try read(Array(repeating: part, count: BatchPartLimits.maxParts + 1))
        }
        #expect(parts?.reason == .tooManyParts)
        var headers = part
        headers.headers = Array(repeating: BatchHeader("X", "y"), count: BatchPartLimits.maxHeaders)
        #expect(try read([headers]) == 1)
        headers.headers.append(BatchHeader("X", "y"))
        #expect(#expect(throws: BatchError.self) { try read([headers]) }?.reason == .tooManyHeaders)
        var long = part
        long.url = String(repeating: "a", count: BatchPartLimits.maxLineBytes - 13)
        #expect(try read([long]) == 1)
        long.url += "a"
        #expect(#expect(throws: BatchError.self) { try read([long]) }?.reason == .lineTooLong)
    }

    @Test("every prefix of a batch is refused with a typed error")
    func prefixes() {
        let bytes = Array(request.utf8)
        let end = bytes.count - "\nepilogue".utf8.count
        for count in 0..<end {
            #expect(throws: BatchError.self, "prefix of \(count)") {
                try MultipartBatch.readRequest(Array(bytes[..<count]), boundary: "b")
            }
        }
    }

    @Test("RFC 2046 5.1.1: the boundary is found in the content type")
    func boundary() throws {
        #expect(try MultipartBatch.boundary(contentType: "Multipart/Mixed; charset=utf-8; Boundary=\"a b\"") == "a b")
        #expect(throws: BatchError.self) { try MultipartBatch.boundary(contentType: "multipart/mixed") }
        #expect(throws: BatchError.self) { try MultipartBatch.boundary(contentType: "application/json") }
    }
}

@Suite("JSON batches")
struct JSONBatchTests {
    @Test("JSON 19.1: requests read and write")
    func request() throws {
        let text =
            #"{"requests":[{"id":"a","method":"post","url":"Orders","headers":{"content-type":"application/json"},"body":{"ID":1}},{"id":"b","atomicityGroup":"g","dependsOn":["a"],"method":"put","url":"$a/Photo","headers":{"content-type":"image/png"},"body":"_-8"},{"id":"c","atomicityGroup":"g","method":"put","url":"N","headers":{"content-type":"text/plain"},"body":"hi"}]}"#
        let parts = try JSONBatch.readRequest(Array(text.utf8))
        #expect(parts.map(\.method) == ["POST", "PUT", "PUT"])
        #expect(parts[0].body == Array(#"{"ID":1}"#.utf8))
        #expect(parts[1].body == [0xFF, 0xEF])
        #expect(parts[1].dependsOn == ["a"])
        #expect(parts[2].body == Array("hi".utf8))
        #expect(String(decoding: JSONBatch.writeRequest(parts), as: UTF8.self) == text)
    }

    @Test("JSON 19.2: responses read and write")
    func response() throws {
        let text =
            #"{"responses":[{"id":"a","status":201,"body":{"ID":1}},{"id":"b","atomicityGroup":"g","status":204}]}"#
        let parts = try JSONBatch.readResponse(Array(text.utf8))
        #expect(parts.map(\.status) == [201, 204])
        #expect(String(decoding: JSONBatch.writeResponse(parts), as: UTF8.self) == text)
    }

    @Test(
        "a malformed batch is refused",
        arguments: [
            (#"{}"#, .noMember("requests")),
            (#"{"requests":[{"id":"a","method":"get"}]}"#, .missingMember("url")),
            (#"{"requests":[{"id":"a","method":"get","url":""}]}"#, .missingMember("url")),
            (#"{"requests":[{"id":"a","url":"x"}]}"#, .missingMember("method")),
            (#"{"requests":[{"method":"get","url":"x"}]}"#, .missingMember("id")),
            (
                #"{"requests":[{"id":"a","method":"put","url":"x","headers":{"Content-Type":"image/png"},"body":"*"}]}"#,
                .malformedBody("*")
            ),
            (
                #"{"requests":[{"id":"a","method":"get","url":"x"},{"id":"a","method":"get","url":"x"}]}"#,
                .duplicateID("a")
            ),
            (#"{"requests":[{"id":"a","method":"get","url":"x","dependsOn":["b"]}]}"#, .unknownDependency("b")),
            (
                #"{"requests":[{"id":"a","method":"get","url":"x","atomicityGroup":"g"},{"id":"b","method":"get","url":"x"},{"id":"c","method":"get","url":"x","atomicityGroup":"g"}]}"#,
                .scatteredGroup("g")
            ),
        ] as [(String, BatchError.Reason)])
    func refused(text: String, reason: BatchError.Reason) {
        let error = #expect(throws: BatchError.self) { try JSONBatch.readRequest(Array(text.utf8)) }
        #expect(error?.reason == reason)
    }

    @Test(
        "a response without responses or without an HTTP status is refused",
        arguments: [
            (#"{}"#, .noMember("responses")), (#"{"responses":[{"id":"a"}]}"#, .malformedStatus("")),
            (#"{"responses":[{"id":"a","status":20}]}"#, .malformedStatus("20")),
        ] as [(String, BatchError.Reason)])
    func refusedResponse(text: String, reason: BatchError.Reason) {
        let error = #expect(throws: BatchError.self) { try JSONBatch.readResponse(Array(text.utf8)) }
        #expect(error?.reason == reason)
        #expect(error?.description.contains("expected") == true)
    }

    @Test("one request too many is refused")
    func limits() throws {
        let part = BatchRequestPart(method: "GET", url: "A")
        let most = JSONBatch.writeRequest(Array(repeating: part, count: BatchPartLimits.maxParts))
        #expect(try JSONBatch.readRequest(most).count == BatchPartLimits.maxParts)
        let tooMany = JSONBatch.writeRequest(Array(repeating: part, count: BatchPartLimits.maxParts + 1))
        #expect(#expect(throws: BatchError.self) { try JSONBatch.readRequest(tooMany) }?.reason == .tooManyParts)
    }
}
