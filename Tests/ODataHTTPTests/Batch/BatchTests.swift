import HTTPTypes
import ODataFormat
import ODataModel
import ODataQuery
import ODataService
import Synchronization
import Testing

@testable import ODataHTTP

/// Multipart and JSON batches, in both directions (OData Protocol 4.01, 11.7).
@Suite struct BatchTests {
    @Test func `a reference within quotes is none, even if a mark combines with them`() throws {
        #expect(try BatchCondition("$1/Name eq '\u{301}$2'").ids == ["1"])
        #expect(BatchValueReference.replaced(in: "A?$filter=N eq '\u{301}$1'", ids: ["1"]).values.isEmpty)
        let (url, values) = BatchValueReference.replaced(in: "A?$filter=N eq '\u{301}' or N eq $1/N", ids: ["1"])
        #expect(url == "A?$filter=N eq '\u{301}' or N eq @batch0")
        #expect(values.keys.sorted() == ["batch0"])
    }

    @Test func `keys in a context do not affect the content, even if a mark combines with their quotes`() throws {
        let model = try ExampleService.model()
        let content = PayloadContext("$metadata#Customers('\u{301}(')/Orders").content(in: model)
        #expect(content == PayloadContext("$metadata#Customers('A')/Orders").content(in: model))
        #expect(content != nil)
    }

    static let multipart = """
        --b
        Content-Type: application/http

        GET Products(1) HTTP/1.1


        --b
        Content-Type: multipart/mixed; boundary=c

        --c
        Content-Type: application/http
        Content-ID: 1

        POST Customers HTTP/1.1
        Content-Type: application/json

        {"ID":"NEW"}
        --c
        Content-Type: application/http
        Content-ID: 2

        POST $1/Orders HTTP/1.1
        Content-Type: application/json

        {"ID":5,"Customer@odata.bind":"$1"}
        --c
        Content-Type: application/http
        Content-ID: 3

        PATCH $2 HTTP/1.1
        Content-Type: application/json

        {"Amount":7}
        --c--
        --b
        Content-Type: application/http
        Content-ID: last

        GET http://host/service/Products/$count HTTP/1.1


        --b--
        """.replacing("\n", with: "\r\n")

    private func handler(
        _ script: @escaping @Sendable ([BatchItem]) throws -> [BatchResult]
    ) throws -> ODataHandler {
        let provider = try ScriptedProvider { request in
            guard case .batch(let items) = request.body else { throw ODataError.notImplemented("this") }
            return ODataResponse(body: .batch(try script(items)))
        }
        return try ODataHandler(provider: provider, serviceRoot: "/service/")
    }

    private func send(
        _ handler: ODataHandler, _ body: String, _ contentType: String, prefer: String? = nil
    ) async throws -> (HTTPResponse, [UInt8]) {
        var message = HTTPRequest(method: .post, scheme: "http", authority: "host", path: "/service/$batch")
        message.headerFields[.contentType] = contentType
        if let prefer { message.headerFields[.prefer] = prefer }
        let (response, stream) = await handler.handle(message, ByteStream(Array(body.utf8)))
        return (response, try await stream.collect(limit: 1 << 20))
    }

    @Test("11.7.7 a multipart batch becomes semantic requests, change sets and references included")
    func multipartIn() async throws {
        let seen = Mutex<[BatchItem]>([])
        let handler = try handler { items in
            seen.withLock { $0 = items }
            return items.map { BatchResult(id: $0.id, result: .success(ODataResponse(body: .count(1)))) }
        }
        let (response, body) = try await send(handler, Self.multipart, "multipart/mixed;boundary=b")
        #expect(response.status == .ok)
        let items = seen.withLock { $0 }
        #expect(items.map(\.request.method) == [.read, .create, .create, .update, .read])
        #expect(items.map(\.id) == ["part-1", "1", "2", "3", "last"])
        #expect(items[0].atomicityGroup == nil && items[1].atomicityGroup != nil)
        #expect(items[1].atomicityGroup == items[2].atomicityGroup)
        #expect(items[2].request.url.path.segments == [.name("$1", .none), .name("Orders", .none)])
        guard case .entity(let order) = items[2].request.body else {
            Issue.record("the order was not read")
            return
        }
        #expect(order.shape.name.name == "Order")
        #expect(order.related["Customer"] == .references(["$1"]))
        #expect(items[3].request.url.path.segments == [.name("$2", .none)])
        #expect(items[4].request.url == (try ODataURL.of("Products/$count")))
        let boundary = try MultipartBatch.boundary(contentType: response.headerFields[.contentType] ?? "")
        let parts = try MultipartBatch.readResponse(body, boundary: boundary)
        #expect(parts.map(\.id) == [nil, "1", "2", "3", "last"])
        #expect(parts.allSatisfy { $0.status == 200 })
    }

    @Test("11.7.2 an unreadable request ends a batch without continue-on-error")
    func unreadable() async throws {
        let seen = Mutex<[String]>([])
        let handler = try handler { items in
            seen.withLock { $0 += items.map(\.id) }
            return items.map { BatchResult(id: $0.id, result: .success(ODataResponse(body: .count(1)))) }
        }
        let batch = """
            {"requests":[{"id":"a","method":"get","url":"Products/$count"},{"id":"b","method":"get","url":"Nothing"},
            {"id":"c","method":"get","url":"Orders/$count"},{"id":"d","method":"get","url":"Orders/$count","dependsOn":["b"]}]}
            """
        let (_, stopped) = try await send(handler, batch, "application/json", prefer: "continue-on-error=false")
        #expect(
            try JSONBatch.readResponse(stopped).map { [$0.id ?? "", "\($0.status)"] } == [["a", "200"], ["b", "404"]])
        #expect(seen.withLock { $0 } == ["a"])
        let (_, whole) = try await send(handler, batch, "application/json", prefer: "continue-on-error")
        #expect(
            try JSONBatch.readResponse(whole).map { [$0.id ?? "", "\($0.status)"] }
                == [["a", "200"], ["b", "404"], ["c", "200"], ["d", "424"]])
    }

    @Test("11.7.4 a failed change set has one response in multipart")
    func failedChangeSet() async throws {
        let handler = try handler { items in
            items.map { item in
                item.atomicityGroup == nil
                    ? BatchResult(id: item.id, result: .success(ODataResponse(body: .count(1))))
                    : BatchResult(
                        id: item.id,
                        result: .failure(
                            item.id == "1"
                                ? ODataError(status: 424, code: "F", message: "f")
                                : ODataError(status: 409, code: "C", message: "c")))
            }
        }
        let (response, body) = try await send(
            handler, Self.multipart, "multipart/mixed;boundary=b", prefer: "continue-on-error")
        let boundary = try MultipartBatch.boundary(contentType: response.headerFields[.contentType] ?? "")
        let parts = try MultipartBatch.readResponse(body, boundary: boundary)
        #expect(parts.map(\.status) == [200, 409, 200])
        #expect(parts.allSatisfy { $0.atomicityGroup == nil })
    }

    @Test(
        "11.7 a body that is no batch is refused",
        arguments: [
            ("text/plain", "x", 415), ("multipart/mixed", "--b", 400), ("multipart/mixed;boundary=b", "rubbish", 400),
            ("application/json", "{\"requests\":[{]}", 400),
        ])
    func noBatch(_ type: String, _ body: String, _ status: Int) async throws {
        let handler = try handler { _ in [] }
        let (response, _) = try await send(handler, body, type)
        #expect(response.status.code == status)
    }

    @Test func `a batch of 100,000 parts is refused at the limit`() async throws {
        let handler = try handler { _ in [] }
        let parts = (0..<100_000).map { "{\"id\":\"\($0)\",\"method\":\"get\",\"url\":\"Products\"}" }
        let json = try await send(handler, "{\"requests\":[\(parts.joined(separator: ","))]}", "application/json")
        let part = "--b\r\nContent-Type: application/http\r\n\r\nGET Products HTTP/1.1\r\n\r\n\r\n"
        let text = String(repeating: part, count: 100_000) + "--b--\r\n"
        let multipart = try await send(handler, text, "multipart/mixed;boundary=b")
        for (response, body) in [json, multipart] {
            #expect(response.status == .badRequest)
            #expect(String(decoding: body, as: UTF8.self).contains("at most \(BatchPartLimits.maxParts) parts"))
        }
    }

    @Test("8.2.1 parts have the format of the batch unless they state another")
    func inheritedFormat() async throws {
        let handler = try handler { items in
            items.map {
                BatchResult(id: $0.id, result: .success(ODataResponse(body: .value("x", .primitive(.string)))))
            }
        }
        var message = HTTPRequest(method: .post, scheme: "http", authority: "host", path: "/service/$batch")
        message.headerFields[.contentType] = "application/json"
        message.headerFields[.accept] = "application/json;metadata=none"
        let batch = """
            {"requests":[{"id":"a","method":"get","url":"Products(1)/Name"},{"id":"b","method":"get",
            "url":"Products(1)/Name","headers":{"accept":"application/json;metadata=minimal"}}]}
            """
        let (_, stream) = await handler.handle(message, ByteStream(Array(batch.utf8)))
        let answers = try JSONBatch.readResponse(try await stream.collect(limit: 10_000))
        #expect(answers.map { String(decoding: $0.body, as: UTF8.self).contains("context") } == [false, true])
    }

    @Test("8.2.5 a request in a batch can return 304")
    func unchangedPart() async throws {
        let handler = try handler { items in
            items.map { BatchResult(id: $0.id, result: .success(ODataResponse(body: .count(1), etag: "W/\"1\""))) }
        }
        let (_, body) = try await send(
            handler,
            #"{"requests":[{"id":"a","method":"get","url":"Products(1)","headers":{"If-None-Match":"W/\"1\""}}]}"#,
            "application/json")
        #expect(try JSONBatch.readResponse(body).map(\.status) == [304])
    }

    @Test(arguments: [BatchFormat.multipart, .json])
    func `the service understands each batch of the client, and the client each answer`(format: BatchFormat)
        async throws
    {
        let seen = Mutex<[BatchItem]>([])
        let handler = try handler { items in
            seen.withLock { $0 = items }
            return items.map { item in
                switch item.id {
                case "r": return BatchResult(id: item.id, result: .success(ODataResponse(body: .count(7))))
                case "x": return BatchResult(id: item.id, result: .failure(.notFound("Orders(9)")))
                default:
                    var response = ODataResponse(status: 204, etag: "\"2\"")
                    response.entityID = "Customers('N')"
                    return BatchResult(id: item.id, result: .success(response))
                }
            }
        }
        let model = try ExampleService.model()
        let shape = try #require(model.shape(ofSet: "Customers"))
        let items = [
            BatchItem(id: "r", request: ODataRequest(.read, try ODataURL.of("Products/$count?$filter=Price gt 1"))),
            BatchItem(
                id: "n",
                request: ODataRequest(
                    .create, ODataURL(set: "Customers"), body: .entity(ODataEntity(shape: shape, ["ID": "N"]))),
                atomicityGroup: "g"),
            BatchItem(
                id: "u",
                request: ODataRequest(
                    .update, ODataURL(path: ResourcePath([.name("$n", .none)])),
                    body: .entity(ODataEntity(shape: shape, ["Name": "é"]).changes), ifMatch: "*"), atomicityGroup: "g"),
            BatchItem(id: "x", request: ODataRequest(.delete, try ODataURL.of("Orders(9)")), dependsOn: ["g"]),
        ]
        let encoder = try ExampleService.encoder(batchFormat: format)
        let request = ODataRequest(.create, ODataURL(path: ResourcePath([.batch])), body: .batch(items))
        let (message, body) = try encoder.encode(request)
        let (response, stream) = await handler.handle(message, try #require(body))
        let decoded = try await ExampleService.responseDecoder().decode(response, body: stream, to: request)
        guard case .batch(let results) = decoded.body else {
            Issue.record("no batch")
            return
        }
        #expect(results.map(\.id) == ["r", "n", "u", "x"])
        guard case .success(let count) = results[0].result, case .count(7) = count.body,
            case .success(let created) = results[1].result, created.entityID == "http://host/service/Customers('N')",
            created.etag == "\"2\"", case .failure(let error) = results[3].result, error.status == 404
        else {
            Issue.record("\(results)")
            return
        }
        let arrived = seen.withLock { $0 }
        #expect(arrived[2].request.url.path.segments == [.name("$n", .none)])
        #expect(arrived[2].request.ifMatch == "*")
        guard case .entity(let changes) = arrived[2].request.body else { return }
        #expect(changes["Name"] == "é")
        #expect(arrived.map { $0.atomicityGroup != nil } == [false, true, true, false])
    }

    @Test func `one answer for a failed change set is given to each of its requests`() {
        func item(_ id: String, _ group: String? = nil) -> BatchItem {
            BatchItem(id: id, request: ODataRequest(.read, ODataURL()), atomicityGroup: group)
        }
        let items = [item("a"), item("b", "g"), item("c", "g"), item("d")]
        let failed = BatchMatching(
            items: items,
            parts: [.init(status: 200), .init(status: 409), .init(status: 201)]
        ).pairs
        #expect(failed.map { "\($0.0.id)\($0.1.status)" } == ["a200", "b409", "c409", "d201"])
        let stopped = BatchMatching(items: items, parts: [.init(status: 200), .init(status: 409)]).pairs
        #expect(stopped.map { "\($0.0.id)\($0.1.status)" } == ["a200", "b409", "c409"])
        let named = BatchMatching(
            items: items,
            parts: [.init(id: "d", status: 204), .init(id: "c", status: 400), .init(id: "a", status: 200)]
        ).pairs
        #expect(named.map { "\($0.0.id)\($0.1.status)" } == ["a200", "b400", "c400", "d204"])
    }

    @Test func `media do not travel in a batch`() throws {
        let item = BatchItem(
            id: "m",
            request: ODataRequest(.create, ODataURL(set: "Photos"), body: .media(ByteStream([1]), contentType: "x/y")))
        let error = #expect(throws: ODataError.self) {
            _ = try BatchRequestWriter(encoder: try ExampleService.encoder()).write([item], format: .multipart)
        }
        #expect(error?.code == "MediaInBatch")
    }
}
