import HTTPTypes
import ODataFormat
import ODataHTTP
import ODataService
import ServerState

/// The reads of shared feeds within a batch, so that a device can synchronize ten queries with one request and one proof
/// (`design-review.md` 23).
///
/// The reads are answered from their feeds at the same time. The other requests of the batch go on as a batch of their
/// own. The responses have the order of the requests.
struct FeedBatch: Sendable {
    /// A request of the batch.
    private struct Item: Sendable {
        var id: String?
        var url: String
        var fields: [(name: String, value: String)]
    }

    /// The batch in one of the two formats.
    private enum Form: Sendable {
        case multipart(MultipartBody)
        case json([BatchRequestPart])
    }

    /// A response to a read of a feed.
    private struct Answer: Sendable {
        let response: HTTPResponse
        let body: [UInt8]

        var status: Int { response.status.code }
    }

    /// Sends the rest of a batch.
    typealias Forward = @Sendable (HTTPRequest, ByteStream) async throws -> (HTTPResponse, ByteStream)

    private let exchange: DestinationExchange
    private let request: HTTPRequest
    private let form: Form
    private let continuesOnError: Bool
    private let reads: [Int: @Sendable () async throws -> Answer]

    /// Returns whether a request may be a batch with reads of feeds.
    static func mayBe(_ request: HTTPRequest, at runtime: DestinationRuntime) -> Bool {
        request.method == .post && runtime.client != nil
            && request.path?.prefix { $0 != "?" }.hasSuffix("/$batch") ?? false
            && runtime.configuration.queries.values.contains { $0.visibility == .shared }
    }

    /// Reads a batch.
    ///
    /// - Returns: `nil` if it is none, or if no request of it reads a feed.
    init?(_ request: HTTPRequest, _ bytes: [UInt8], of exchange: DestinationExchange) async throws {
        guard let type = request.headerFields[.contentType].flatMap({ MediaType($0) }) else { return nil }
        if type.matches("multipart", "mixed"), let boundary = type["boundary"],
            let body = try? MultipartBody(bytes, boundary: boundary)
        {
            form = .multipart(body)
        } else if type.isJSON, let requests = try? JSONBatch.readRequest(bytes),
            requests.allSatisfy({ $0.problem == nil })
        {
            form = .json(requests)
        } else {
            return nil
        }
        self.exchange = exchange
        self.request = request
        // Changes do not depend on the metadata, which may be out of reach.
        guard let dialect = try? await exchange.runtime.dialect() else { return nil }
        continuesOnError =
            dialect == "v2"
            || request.headerFields[values: .prefer].contains {
                $0.contains("continue-on-error") && !$0.contains("continue-on-error=false")
            }
        var reads: [Int: @Sendable () async throws -> Answer] = [:]
        for (index, item) in Self.items(of: form) {
            guard let head = Self.head(of: item, in: request, exchange) else { continue }
            do {
                guard let (definition, provider) = try await exchange.feed(for: head) else { continue }
                reads[index] = {
                    let (response, stream) = await exchange.served(
                        by: provider, head, ByteStream([]), feed: definition)
                    return Answer(
                        response: response, body: try await stream.collect(limit: DestinationProxy.batchLimit))
                }
            } catch let error as ODataError where error.status == 410 {
                reads[index] = {
                    let (response, stream) = DestinationFailure.response(error)
                    return Answer(
                        response: response, body: try await stream.collect(limit: DestinationProxy.memoryLimit))
                }
            }
        }
        guard !reads.isEmpty else { return nil }
        self.reads = reads
    }

    // MARK: Requests

    /// Returns the requests that may read a feed, by their place in the batch: those that no other one refers to.
    private static func items(of form: Form) -> [(Int, Item)] {
        switch form {
        case .multipart(let body):
            return body.parts.enumerated().compactMap { index, part in
                guard case .message(let message) = part.content else { return nil }
                let words = message.line.split(separator: " ")
                guard words.count >= 2, words[0].uppercased() == "GET" else { return nil }
                let id = part.fields.first { $0.name.lowercased() == "content-id" }?.value
                return (index, Item(id: id, url: String(words[1]), fields: message.fields))
            }
        case .json(let requests):
            return requests.enumerated().compactMap { index, request in
                guard request.method.uppercased() == "GET", request.condition == nil, request.dependsOn.isEmpty,
                    request.atomicityGroup == nil
                else { return nil }
                if let id = request.id {
                    let refers = requests.contains {
                        $0.dependsOn.contains(id) || $0.url.contains("$\(id)") || $0.condition?.contains(id) ?? false
                    }
                    guard !refers else { return nil }
                }
                return (
                    index,
                    Item(id: request.id, url: request.url, fields: request.headers.map { ($0.name, $0.value) })
                )
            }
        }
    }

    /// Returns a request of the batch as one of its own; `nil` if its URL leads elsewhere.
    private static func head(
        of item: Item, in batch: HTTPRequest, _ exchange: DestinationExchange
    ) -> HTTPRequest? {
        guard let path = batch.path?.prefix(while: { $0 != "?" }), path.hasSuffix("/$batch"),
            let relative = try? exchange.publicRoot(batch).relative(item.url), LinkMap.isPlain(path: relative)
        else { return nil }
        var head = HTTPRequest(
            method: .get, scheme: batch.scheme, authority: batch.authority,
            path: String(path.dropLast("$batch".count)) + relative)
        for field in item.fields {
            guard let name = HTTPField.Name(field.name) else { continue }
            head.headerFields.append(HTTPField(name: name, value: field.value))
        }
        for name in Self.inherited where head.headerFields[name] == nil {
            head.headerFields[name] = batch.headerFields[name]
        }
        return head
    }

    /// The fields of a batch that hold for its requests.
    private static let inherited = ["Accept-Language", "OData-MaxVersion"].compactMap { HTTPField.Name($0) }

    // MARK: Responses

    /// Answers the batch.
    ///
    /// - Parameter forward: Sends the requests that read no feed.
    /// - Throws: The errors of the rest of the batch.
    func answer(_ forward: Forward) async throws -> (HTTPResponse, ByteStream) {
        let answers = try await feedAnswers()
        // Without `continue-on-error`, no request behind a refused one is executed.
        let end = continuesOnError ? nil : answers.filter { $0.value.status >= 400 }.keys.min()
        switch form {
        case .multipart(let body): return try await answer(body, answers, before: end ?? .max, through: forward)
        case .json(let requests): return try await answer(requests, answers, before: end ?? .max, through: forward)
        }
    }

    private func feedAnswers() async throws -> [Int: Answer] {
        try await withThrowingTaskGroup(of: (Int, Answer).self) { group in
            for (index, read) in reads { group.addTask { (index, try await read()) } }
            var answers: [Int: Answer] = [:]
            for try await (index, answer) in group { answers[index] = answer }
            return answers
        }
    }

    private func answer(
        _ body: MultipartBody, _ answers: [Int: Answer], before end: Int, through forward: Forward
    ) async throws -> (HTTPResponse, ByteStream) {
        let rest = body.parts.indices.filter { answers[$0] == nil && $0 < end }
        var (head, others): (HTTPResponse?, [MultipartBody.Part]) = (nil, [])
        if !rest.isEmpty {
            let part = MultipartBody(boundary: body.boundary, parts: rest.map { body.parts[$0] })
            let (response, stream) = try await forward(request, ByteStream(part.bytes))
            let bytes = try await stream.collect(limit: DestinationProxy.batchLimit)
            guard let type = response.headerFields[.contentType].flatMap({ MediaType($0) }),
                type.matches("multipart", "mixed"), let boundary = type["boundary"],
                let read = try? MultipartBody(bytes, boundary: boundary)
            else { return (response, ByteStream(bytes)) }
            (head, others) = (response, read.parts)
        }
        var parts: [MultipartBody.Part] = []
        var next = others.makeIterator()
        for (index, request) in body.parts.enumerated() {
            guard let part = answers[index].map({ Self.part($0, to: request) }) ?? next.next() else { break }
            parts.append(part)
            if !continuesOnError, part.messages.contains(where: { Self.status($0) >= 400 }) { break }
        }
        let merged = MultipartBody(boundary: "outpost_feeds", parts: parts)
        return response(head, answers, type: "multipart/mixed; boundary=\(merged.boundary)", body: merged.bytes)
    }

    private func answer(
        _ requests: [BatchRequestPart], _ answers: [Int: Answer], before end: Int, through forward: Forward
    ) async throws -> (HTTPResponse, ByteStream) {
        let rest = requests.indices.filter { answers[$0] == nil && $0 < end }.map { requests[$0] }
        var (head, others): (HTTPResponse?, [BatchResponsePart]) = (nil, [])
        if !rest.isEmpty {
            let (response, stream) = try await forward(request, ByteStream(JSONBatch.writeRequest(rest)))
            let bytes = try await stream.collect(limit: DestinationProxy.batchLimit)
            guard response.status.code < 300, let read = try? JSONBatch.readResponse(bytes) else {
                return (response, ByteStream(bytes))
            }
            (head, others) = (response, read)
        }
        var parts: [BatchResponsePart] = []
        for (index, request) in requests.enumerated() {
            if let answer = answers[index] {
                parts.append(
                    BatchResponsePart(
                        id: request.id, status: answer.status,
                        headers: answer.response.headerFields.map { BatchHeader($0.name.rawName, $0.value) },
                        body: answer.body))
            } else if let other = others.first(where: { $0.id == request.id }) {
                parts.append(other)
            } else {
                break
            }
            if !continuesOnError, let last = parts.last, last.status >= 400 { break }
        }
        return response(head, answers, type: "application/json", body: JSONBatch.writeResponse(parts))
    }

    /// Returns the response to the batch, with the head of the back end's response if there is one.
    private func response(
        _ head: HTTPResponse?, _ answers: [Int: Answer], type: String, body bytes: [UInt8]
    ) -> (HTTPResponse, ByteStream) {
        var response: HTTPResponse
        if let head {
            response = head
        } else {
            response = HTTPResponse(status: .ok)
            let fields = answers.min { $0.key < $1.key }?.value.response.headerFields
            for name in ["OData-Version", "DataServiceVersion"].compactMap({ HTTPField.Name($0) }) {
                response.headerFields[name] = fields?[name]
            }
        }
        response.headerFields[.contentType] = type
        response.headerFields[.contentLength] = String(bytes.count)
        return (response, ByteStream(bytes))
    }

    private static func part(_ answer: Answer, to request: MultipartBody.Part) -> MultipartBody.Part {
        var fields: [MultipartBody.Field] = [
            ("Content-Type", "application/http"), ("Content-Transfer-Encoding", "binary"),
        ]
        if let id = request.fields.first(where: { $0.name.lowercased() == "content-id" }) { fields.append(id) }
        let phrase = answer.response.status.reasonPhrase
        let message = MultipartBody.Message(
            line: "HTTP/1.1 \(answer.status) \(phrase.isEmpty ? "Answer" : phrase)",
            fields: answer.response.headerFields.map { ($0.name.rawName, $0.value) }, body: answer.body)
        return MultipartBody.Part(fields: fields, content: .message(message))
    }

    private static func status(_ message: MultipartBody.Message) -> Int {
        let words = message.line.split(separator: " ")
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }
}
