import HTTPTypes
import ODataHTTP
import ODataService

/// Executes the repeatable units of a batch one by one: a unit is a request, or a whole change set with one id
/// (`rules.md` 2, `design-review.md` 12).
struct RepeatableBatch: Sendable {
    let replay: ReplayGuard
    let owner: [UInt8]
    /// Whether the back end recognises repeats itself, so that a unit may be forwarded again.
    let recognisesRepeats: Bool
    /// Whether units after a refused one are executed.
    let continuesOnError: Bool
    /// Sends a batch with this body. It throws ``ReplayGuard/NotSent`` if the batch did not leave the server.
    let forward: @Sendable ([UInt8]) async throws -> ReplayGuard.Answer

    /// Returns whether any part of a batch has the fields of a repeatable request.
    static func isNeeded(for batch: MultipartBody) -> Bool {
        batch.parts.contains { part in part.messages.contains { $0.value("Repeatability-Request-ID") != nil } }
    }

    /// Executes a batch.
    ///
    /// - Throws: ``ODataError`` if no unit was executed.
    func execute(_ batch: MultipartBody) async throws -> (HTTPResponse, ByteStream) {
        var answers: [MultipartBody.Part] = []
        var head: HTTPResponse?
        var index = 0
        while index < batch.parts.count {
            var unit = [batch.parts[index]]
            index += 1
            let identification = try identification(of: unit[0])
            if identification == nil {
                // Requests without an id go together.
                while index < batch.parts.count, try self.identification(of: batch.parts[index]) == nil {
                    unit.append(batch.parts[index])
                    index += 1
                }
            }
            let answer: ReplayGuard.Answer
            do {
                answer = try await self.answer(to: unit, boundary: batch.boundary, identification)
            } catch {
                let error = DestinationFailure.error(error)
                guard !answers.isEmpty || Self.isOfUnit(error) else { throw error }
                answers.append(try await Self.part(of: error))
                if continuesOnError { continue }
                break
            }
            guard var parts = Self.parts(of: answer) else {
                if identification != nil, answer.response.status == .noContent {
                    // The response was too long to be kept. The unit is done.
                    answers += unit.map(Self.done)
                    continue
                }
                // The back end refused the batch itself.
                guard !answers.isEmpty else { return (answer.response, ByteStream(answer.body)) }
                answers.append(try await Self.part(of: DestinationFailure.badGateway))
                break
            }
            head = head ?? answer.response
            if identification != nil, Self.finality(of: parts) == .final {
                parts.mapMessages { message in
                    message.fields.removeAll { $0.name.lowercased() == "repeatability-result" }
                    message.fields.append(("Repeatability-Result", "accepted"))
                }
            }
            answers += parts.parts
            if !continuesOnError, parts.parts.flatMap(\.messages).contains(where: { Self.status($0) >= 400 }) { break }
        }
        let body = MultipartBody(boundary: "outpost_\(batch.boundary.filter(\.isLetter).prefix(20))", parts: answers)
        return Self.response(head, "multipart/mixed; boundary=\(body.boundary)", body: body.bytes)
    }

    /// Returns the response of a batch with another body.
    static func response(_ head: HTTPResponse?, _ type: String, body bytes: [UInt8]) -> (HTTPResponse, ByteStream) {
        var response = head ?? HTTPResponse(status: .ok)
        response.headerFields[.contentType] = type
        response.headerFields[.repeatabilityResult] = nil
        response.headerFields[.contentLength] = String(bytes.count)
        return (response, ByteStream(bytes))
    }

    /// Returns whether an error concerns one unit, so that it stands in the response of the batch. After another
    /// error the whole batch is sent again.
    static func isOfUnit(_ error: ODataError) -> Bool { (400..<500).contains(error.status) && error.status != 429 }

    private func answer(
        to unit: [MultipartBody.Part], boundary: String, _ identification: ReplayGuard.Identification?
    ) async throws -> ReplayGuard.Answer {
        let body = MultipartBody(boundary: boundary, parts: unit).bytes
        return try await answer(to: body, identification) { answer in
            Self.parts(of: answer).map(Self.finality)
        }
    }

    /// Forwards the body of a unit, once if it is repeatable.
    ///
    /// - Parameter finality: Returns the finality of the responses within an answer; `nil` if it is no batch.
    func answer(
        to body: [UInt8], _ identification: ReplayGuard.Identification?,
        finality: @escaping @Sendable (ReplayGuard.Answer) -> ReplayGuard.Finality?
    ) async throws -> ReplayGuard.Answer {
        guard let identification else {
            do {
                return try await forward(body)
            } catch let error as ReplayGuard.NotSent {
                throw error.reason
            }
        }
        return try await replay.perform(identification) { [forward] in
            var answer = try await forward(body)
            if answer.response.status.code < 300 { answer.inner = finality(answer) }
            return answer
        }
    }

    /// Returns the parts of an answer; `nil` if it is no batch.
    private static func parts(of answer: ReplayGuard.Answer) -> MultipartBody? {
        guard let type = answer.response.headerFields[.contentType].flatMap({ MediaType($0) }),
            type.matches("multipart", "mixed"), let boundary = type["boundary"]
        else { return nil }
        return try? MultipartBody(answer.body, boundary: boundary)
    }

    /// Returns the id of a unit. A change set has one id.
    private func identification(of part: MultipartBody.Part) throws -> ReplayGuard.Identification? {
        try identification(
            of: part.messages.map { message in
                Request(
                    id: message.value("Repeatability-Request-ID"),
                    firstSent: message.value("Repeatability-First-Sent"), condition: message.value("If-Match"),
                    content: [Array(message.line.utf8), message.body])
            })
    }

    /// A request of a unit, as far as its identification needs it.
    struct Request {
        var id: String?
        var firstSent: String?
        var condition: String?
        var content: [[UInt8]]
    }

    /// Returns the identification of the requests of a unit; `nil` if they have none.
    ///
    /// - Throws: ``ODataError`` 400 if the requests do not share one id.
    func identification(of requests: [Request]) throws -> ReplayGuard.Identification? {
        let ids = Set(requests.compactMap(\.id))
        guard let id = ids.first else { return nil }
        guard ids.count == 1, requests.allSatisfy({ $0.id != nil }) else {
            throw ODataError(
                status: 400, code: "InvalidProperty", message: "The requests of a change set have one id.",
                target: "Repeatability-Request-ID", repeatabilityResult: .rejected)
        }
        let isGuarded = requests.allSatisfy { request in request.condition.map { $0 != "*" } ?? false }
        return try ReplayGuard.identification(
            id: id, firstSent: requests.first?.firstSent, owner: owner, content: requests.flatMap(\.content),
            isSafe: recognisesRepeats || isGuarded)
    }

    private static func status(_ message: MultipartBody.Message) -> Int {
        let words = message.line.split(separator: " ")
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }

    /// Returns the finality of a unit, which is that of its least final response (`mobile-server.md` 0.3).
    private static func finality(of batch: MultipartBody) -> ReplayGuard.Finality {
        let messages = batch.parts.flatMap(\.messages)
        return messages.map { ReplayGuard.finality(of: status($0), $0.body) }.max() ?? .unknown
    }

    private static let partFields = [
        ("Content-Type", "application/http"), ("Content-Transfer-Encoding", "binary"),
    ].map { (name: $0.0, value: $0.1) }

    private static func part(of error: ODataError) async throws -> MultipartBody.Part {
        let (response, body) = DestinationFailure.response(error)
        let status = response.status
        let message = MultipartBody.Message(
            line: "HTTP/1.1 \(status.code) \(status.reasonPhrase)",
            fields: response.headerFields.map { ($0.name.rawName, $0.value) },
            body: try await body.collect(limit: ReplayGuard.bodyLimit))
        return MultipartBody.Part(fields: partFields, content: .message(message))
    }

    /// Returns the response to a part that was executed before, without the body that was too long to be kept.
    private static func done(_ part: MultipartBody.Part) -> MultipartBody.Part {
        var part = part
        func answer(_ message: inout MultipartBody.Message) {
            message = MultipartBody.Message(
                line: "HTTP/1.1 204 No Content", fields: [("Repeatability-Result", "accepted")], body: [])
        }
        switch part.content {
        case .message(var message):
            answer(&message)
            part.content = .message(message)
        case .group(var group):
            group.mapMessages { answer(&$0) }
            part.content = .group(group)
        }
        return part
    }
}

extension DestinationProxy {
    /// Sends a request and returns the response with its whole body.
    ///
    /// - Throws: ``ReplayGuard/NotSent`` if the request did not leave the server.
    func whole(_ outgoing: Outgoing, _ circumstances: Circumstances) async throws -> ReplayGuard.Answer {
        let response: HTTPResponse
        let body: ByteStream
        do {
            (response, body) = try await send(outgoing, circumstances)
        } catch let refusal as DestinationGate.Refusal {
            throw ReplayGuard.NotSent(reason: DestinationFailure.error(refusal))
        } catch let error as TransportError {
            if case .cannotConnect = error { throw ReplayGuard.NotSent(reason: DestinationFailure.error(error)) }
            throw error
        }
        let bytes = try await withTimeLimit(timeout) { try await body.collect(limit: Self.batchLimit) }
        return ReplayGuard.Answer(response: response, body: bytes)
    }
}
