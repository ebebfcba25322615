import HTTPTypes
import ODataFormat
import ODataModel
import ODataService

/// Writes the responses to a batch, each with the encoder of single responses (OData Protocol 4.01, 11.7.4).
struct BatchResponseWriter {
    /// The maximum size of one response in bytes, since responses within a batch are held in memory.
    static let maxPartSize = 64 << 20

    let encoder: ResponseEncoder

    /// The minimum size of a chunk in bytes, except for the last.
    private static let chunkSize = 16 << 10

    /// Returns the responses as a stream. Each is encoded after those before it were sent.
    func write(_ results: [BatchResult], to incoming: IncomingRequest) -> (ByteStream, contentType: String) {
        let boundary = "batchresponse_\(ODataGuid.random())"
        let form = incoming.answersAsJSON ? BatchResponseOutput.Form.json : .multipart(boundary: boundary)
        let answers = AnswersInProgress(answers(results, incoming), form)
        let stream = ByteStream { try await answers.next(atLeast: Self.chunkSize) { await answer($0, incoming) } }
        return (stream, incoming.answersAsJSON ? incoming.contentType : "multipart/mixed;boundary=\(boundary)")
    }

    /// Returns encoded responses to some requests of a batch.
    func parts(_ results: [BatchResult], of incoming: IncomingRequest) async -> [BatchResponsePart] {
        var parts: [BatchResponsePart] = []
        for item in answers(results, incoming) { parts.append(await answer(item, incoming)) }
        return parts
    }

    /// A response to write.
    private struct Answer: Sendable {
        var result: BatchResult
        var part: IncomingPart?
        /// Whether the response is for a whole failed change set.
        var standsForGroup = false
    }

    private func answers(_ results: [BatchResult], _ incoming: IncomingRequest) -> [Answer] {
        let parts = Dictionary(incoming.parts.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var answers: [Answer] = []
        var failedGroups: Set<String> = []
        for result in results {
            let part = parts[result.id]
            if !incoming.answersAsJSON, let group = part?.atomicityGroup {
                if failedGroups.contains(group) { continue }
                // In multipart, one response outside the change set reports that the whole change set failed.
                if let failure = Self.failure(of: group, in: results, parts) {
                    failedGroups.insert(group)
                    answers.append(Answer(result: failure, part: part, standsForGroup: true))
                    continue
                }
            }
            answers.append(Answer(result: result, part: part))
        }
        return answers
    }

    /// The remaining responses; those that were written are released.
    private actor AnswersInProgress {
        private var rest: [Answer]
        private var output: BatchResponseOutput
        private var isFinished = false

        init(_ answers: [Answer], _ form: BatchResponseOutput.Form) {
            rest = answers.reversed()
            output = BatchResponseOutput(form)
        }

        func next(
            atLeast size: Int, _ encode: @Sendable (Answer) async -> BatchResponsePart
        ) async throws -> [UInt8]? {
            guard !isFinished else { return nil }
            var bytes: [UInt8] = []
            while bytes.count < size, let answer = rest.popLast() {
                try Task.checkCancellation()
                bytes += output.append(await encode(answer))
            }
            if rest.isEmpty {
                isFinished = true
                bytes += output.finish()
            }
            return bytes
        }
    }

    private static func failure(
        of group: String, in results: [BatchResult], _ parts: [String: IncomingPart]
    ) -> BatchResult? {
        let failures = results.filter { result in
            guard parts[result.id]?.atomicityGroup == group, case .failure = result.result else { return false }
            return true
        }
        // The original refusal explains more than the 424 of a dependent request.
        return failures.first { result in
            if case .failure(let error) = result.result { error.status != 424 } else { false }
        } ?? failures.first
    }

    private func answer(_ answer: Answer, _ batch: IncomingRequest) async -> BatchResponsePart {
        let (result, part) = (answer.result, answer.part)
        let (message, body) = await message(result, part, batch)
        var bytes: [UInt8]
        var head = message
        do {
            let room = batch.request.context.budget?.heldBytesLeft ?? .max
            bytes = try await body.collect(limit: min(Self.maxPartSize, room))
        } catch {
            let refusal = error as? ODataError ?? ODataError.internalError
            let replacement = encoder.encode(refusal, format: batch.format)
            head = replacement.0
            bytes = ErrorObject.bytes(refusal)
        }
        if bytes.isEmpty { head.headerFields[.contentType] = nil }
        return BatchResponsePart(
            id: part?.ownID ?? (batch.answersAsJSON ? result.id : nil), status: head.status.code,
            headers: head.headerFields.map { BatchHeader($0.name.rawName, $0.value) }, body: bytes,
            atomicityGroup: answer.standsForGroup ? nil : part?.atomicityGroup)
    }

    private func message(
        _ result: BatchResult, _ part: IncomingPart?, _ batch: IncomingRequest
    ) async -> (HTTPResponse, ByteStream) {
        var format = batch.format
        if case .success(let incoming)? = part?.result {
            format = incoming.format
            if case .success(let response) = result.result {
                do throws(ODataError) {
                    return try await encoder.encode(response, to: incoming)
                } catch {
                    return encoder.encode(error, format: format)
                }
            }
        }
        if case .failure(let error) = result.result { return encoder.encode(error, format: format) }
        return encoder.encode(.internalError, format: format)
    }
}

extension ODataError {
    /// A 500 error without details, since internal information must not reach clients.
    static var internalError: ODataError {
        ODataError(status: 500, code: "InternalError", message: "The service failed.")
    }
}
