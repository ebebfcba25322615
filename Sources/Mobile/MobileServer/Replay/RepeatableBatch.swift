import HTTPTypes
import ODataHTTP
import ODataService

/// Executes the repeatable units of a batch one by one: a unit is a request, or a whole change set with one id
/// (`rules.md` 2, `design-review.md` 12).
struct RepeatableBatch: Sendable {
    let proxy: DestinationProxy
    let replay: ReplayGuard
    let owner: [UInt8]
    let circumstances: DestinationProxy.Circumstances
    /// The request of the batch; each forwarded batch has its fields.
    let request: HTTPRequest
    /// Whether units after a refused one are executed.
    let continuesOnError: Bool

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
                guard !answers.isEmpty else { throw error }
                answers.append(Self.part(of: DestinationFailure.error(error)))
                break
            }
            guard let type = answer.response.headerFields[.contentType].flatMap({ MediaType($0) }),
                type.matches("multipart", "mixed"), let boundary = type["boundary"],
                var parts = try? MultipartBody(answer.body, boundary: boundary)
            else {
                // The back end refused the batch itself.
                guard !answers.isEmpty else { return (answer.response, ByteStream(answer.body)) }
                break
            }
            head = head ?? answer.response
            if identification != nil, Self.isDone(parts) {
                parts.mapMessages { message in
                    message.fields.removeAll { $0.name.lowercased() == "repeatability-result" }
                    message.fields.append(("Repeatability-Result", "accepted"))
                }
            }
            answers += parts.parts
            if !continuesOnError, parts.parts.flatMap(\.messages).contains(where: { Self.status($0) >= 400 }) { break }
        }
        let body = MultipartBody(boundary: "outpost_\(batch.boundary.filter(\.isLetter).prefix(20))", parts: answers)
        var response = head ?? HTTPResponse(status: .ok)
        response.headerFields[.contentType] = "multipart/mixed; boundary=\(body.boundary)"
        response.headerFields[.contentLength] = nil
        response.headerFields[.repeatabilityResult] = nil
        let bytes = body.bytes
        response.headerFields[.contentLength] = String(bytes.count)
        return (response, ByteStream(bytes))
    }

    private func answer(
        to unit: [MultipartBody.Part], boundary: String, _ identification: ReplayGuard.Identification?
    ) async throws -> ReplayGuard.Answer {
        let forward: @Sendable () async throws -> ReplayGuard.Answer = { [self] in
            let outgoing: DestinationProxy.Outgoing
            do {
                let body = MultipartBody(boundary: boundary, parts: unit)
                outgoing = try await proxy.outgoing(request, ByteStream(body.bytes), circumstances: circumstances)
            } catch {
                throw ReplayGuard.NotSent(reason: DestinationFailure.error(error))
            }
            return try await proxy.whole(outgoing, circumstances)
        }
        guard let identification else {
            do {
                return try await forward()
            } catch let error as ReplayGuard.NotSent {
                throw error.reason
            }
        }
        return try await replay.perform(identification, forward: forward)
    }

    /// Returns the id of a unit. A change set has one id.
    private func identification(of part: MultipartBody.Part) throws -> ReplayGuard.Identification? {
        let messages = part.messages
        let ids = Set(messages.compactMap { $0.value("Repeatability-Request-ID") })
        guard let id = ids.first else { return nil }
        guard ids.count == 1, messages.allSatisfy({ $0.value("Repeatability-Request-ID") != nil }) else {
            throw ODataError(
                status: 400, code: "InvalidProperty", message: "The requests of a change set have one id.",
                target: "Repeatability-Request-ID", repeatabilityResult: .rejected)
        }
        let content = messages.flatMap { [Array($0.line.utf8), $0.body] }
        return try ReplayGuard.identification(
            id: id, firstSent: messages.first?.value("Repeatability-First-Sent"), owner: owner, content: content,
            isSafe: circumstances.passesRepeatability || messages.allSatisfy { Self.isGuarded($0) })
    }

    private static func isGuarded(_ message: MultipartBody.Message) -> Bool {
        message.value("If-Match").map { $0 != "*" } ?? false
    }

    private static func status(_ message: MultipartBody.Message) -> Int {
        let words = message.line.split(separator: " ")
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }

    /// Returns whether each response is final, so that the unit counts as accepted.
    private static func isDone(_ batch: MultipartBody) -> Bool {
        batch.parts.flatMap(\.messages).allSatisfy { (200..<500).contains(status($0)) }
    }

    private static func part(of error: ODataError) -> MultipartBody.Part {
        let text = "{\"error\":{\"code\":\"\(error.code)\",\"message\":\"\(error.message)\"}}"
        let message = MultipartBody.Message(
            line: "HTTP/1.1 \(error.status) Failed", fields: [("Content-Type", "application/json")],
            body: Array(text.utf8))
        return MultipartBody.Part(
            fields: [("Content-Type", "application/http"), ("Content-Transfer-Encoding", "binary")],
            content: .message(message))
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
