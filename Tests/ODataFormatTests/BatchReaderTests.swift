import ODataModel
import Testing

@testable import ODataFormat

@Suite("Batches in chunks")
struct BatchReaderTests {
    private static let requests = [
        BatchRequestPart(id: "1", method: "GET", url: "A?$filter=x eq 1"),
        BatchRequestPart(
            id: "2", method: "POST", url: "B", headers: [BatchHeader("content-type", "application/json")],
            body: Array(#"{"a":"--b"}"#.utf8), atomicityGroup: "g"),
        BatchRequestPart(id: "3", method: "DELETE", url: "$2", atomicityGroup: "g"),
        BatchRequestPart(id: "4", method: "DELETE", url: "/C", dependsOn: ["2", "g"], condition: "$2/status eq 201"),
    ]

    private func read(
        _ bytes: [UInt8], _ contentType: String, _ size: Int
    ) throws(BatchError) -> [BatchRequestPart] {
        var reader = try BatchRequestReader(contentType: contentType)
        var parts: [BatchRequestPart] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            reader.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            while let part = try reader.next() { parts.append(part) }
        }
        reader.finish()
        while let part = try reader.next() { parts.append(part) }
        return parts
    }

    @Test("requests are the same for any chunk size, in JSON and in multipart", arguments: [1, 2, 13, 10_000])
    func chunks(size: Int) throws {
        let json = JSONBatch.writeRequest(Self.requests)
        #expect(try read(json, "application/json;odata.metadata=minimal", size) == Self.requests)
        let multipart = MultipartBatch.writeRequest(Array(Self.requests.dropLast()), boundary: "b")
        #expect(try read(multipart, "multipart/mixed; boundary=b", size) == Array(Self.requests.dropLast()))
    }

    @Test("each part is returned as soon as the next boundary arrives")
    func early() throws {
        var reader = try BatchResponseReader(contentType: "multipart/mixed;boundary=b")
        var count = 0
        for number in 1...500 {
            let body = String(repeating: "x", count: 1000)
            reader.append(
                "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\n\r\n\(number)\(body)\r\n".utf8)
            while let part = try reader.next() {
                count += 1
                #expect(part.body.starts(with: String(count).utf8))
            }
            #expect(count == number - 1)
        }
        reader.append("--b--\r\nwhatever".utf8)
        reader.finish()
        while try reader.next() != nil { count += 1 }
        #expect(count == 500)
    }

    @Test("blanks instead of a missing colon are read only once in a batch", .timeLimit(.minutes(1)))
    func blanks() async throws {
        var reader = try BatchRequestReader(contentType: "application/json")
        reader.append(#"{"requests""#.utf8)
        for _ in 0..<300_000 {
            try Task.checkCancellation()
            reader.append([0x20])
            #expect(try reader.next() == nil)
        }
        reader.append(#": [{"id":"1","method":"GET","url":"A"}]}"#.utf8)
        #expect(try reader.next()?.url == "A")
    }

    @Test("preambles and epilogues are ignored, also in change sets")
    func preambles() throws {
        let text = """
            hello
            --b
            Content-Type: multipart/mixed; boundary=c

            preamble of the change set
            --c
            Content-Type: application/http
            Content-ID: 1

            DELETE A HTTP/1.1

            --c--
            epilogue of the change set
            --b--
            bye
            """
        #expect(try read(Array(text.utf8), "multipart/mixed;boundary=b", 5).map(\.url) == ["A"])
    }

    @Test(
        "a request that is not allowed in a change set is refused",
        arguments: [
            ("GET A HTTP/1.1", BatchError.Reason.queryInChangeSet("GET A HTTP/1.1"), 7),
            (
                "DELETE A HTTP/1.1\n\n--c\nContent-Type: application/http\nContent-ID: 1\n\nDELETE B HTTP/1.1",
                .duplicateID("1"), 13
            ),
        ])
    func changeSets(content: String, reason: BatchError.Reason, line: Int) throws {
        let text =
            "--b\nContent-Type: multipart/mixed;boundary=c\n\n--c\nContent-Type: application/http\nContent-ID: 1\n\n\(content)\n--c--\n--b--"
        // All other requests are readable, because the error affects only one request.
        let parts = try read(Array(text.utf8), "multipart/mixed;boundary=b", 3)
        let problem = parts.last?.problem
        #expect(problem?.reason == reason && problem?.line == line + 1, "\(problem as Any)")
        #expect(parts.dropLast().allSatisfy { $0.problem == nil } && parts.allSatisfy { $0.atomicityGroup == "c" })
    }

    @Test("an unreadable request does not affect the others, in either format and for any chunk size")
    func problems() throws {
        let good = "Content-Type: application/http\n\nGET A HTTP/1.1\n\n"
        let wrong = [
            "Content-Type: application/http\n\nnonsense\n", "Content-Type: text/plain\n\nhello\n",
            "no field\n\nGET A HTTP/1.1\n",
            "Content-Type: application/http\nContent-Transfer-Encoding: base64\n\nR0VU\n",
            "Content-Type: application/http\n\nGET A HTTP/1.1\nno field\n\n", "Content-Type: application/http\n\n",
        ]
        for part in wrong {
            let text = "--b\n\(good)--b\n\(part)--b\n\(good)--b--"
            for size in [1, 7, 1000] {
                let parts = try read(Array(text.utf8), "multipart/mixed;boundary=b", size)
                #expect(parts.map { $0.problem == nil } == [true, false, true], "\(part)")
            }
        }
        let items = [
            #"{"id":"1","method":"get"}"#, #"{"method":"get","url":"A"}"#, #"{"id":"0","method":"get","url":"A"}"#,
            #"{"id":"1","method":"get","url":"A","dependsOn":["2"]}"#,
            #"{"id":"1","method":"put","url":"A","headers":{"Content-Type":"image/png"},"body":"?"}"#,
        ]
        for item in items {
            let text =
                #"{"requests":[{"id":"0","method":"get","url":"A"},"# + item
                + #",{"id":"2","method":"get","url":"A"}]}"#
            let parts = try read(Array(text.utf8), "application/json", 5)
            #expect(parts.map { $0.problem == nil } == [true, false, true], "\(item)")
        }
    }

    @Test("a change set that is not closed is refused if the batch goes on")
    func unclosed() {
        let text =
            "--b\nContent-Type: multipart/mixed;boundary=c\n\n--c\nContent-Type: application/http\n\nDELETE A HTTP/1.1\n\n--b--"
        let error = #expect(throws: BatchError.self) { try read(Array(text.utf8), "multipart/mixed;boundary=b", 3) }
        #expect(error?.reason == .notClosed(boundary: "c") && error?.line == 9)
    }

    @Test("a part without an end is refused at the limit, before it is read completely")
    func limit() throws {
        var reader = try BatchRequestReader(contentType: "multipart/mixed;boundary=b")
        reader.append("--b\nContent-Type: application/http\n\nPUT A HTTP/1.1\n\n".utf8)
        let chunk = [UInt8](repeating: 0x78, count: 4 << 20)
        let error = #expect(throws: BatchError.self) {
            for _ in 0...(BatchPartLimits.maxPartBytes / chunk.count) {
                reader.append(chunk)
                _ = try reader.next()
            }
        }
        #expect(error?.reason == .partTooLarge)
    }

    @Test("other media types are refused")
    func mediaType() {
        #expect(throws: BatchError.self) { try BatchRequestReader(contentType: "text/plain") }
        #expect(throws: BatchError.self) { try BatchResponseReader(contentType: "multipart/mixed") }
    }
}
