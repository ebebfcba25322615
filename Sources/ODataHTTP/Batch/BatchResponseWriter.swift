import HTTPTypes
import ODataFormat
import ODataModel
import ODataService

/// Writes the answers to a batch, each through the same encoder as an answer of its own
/// (OData Protocol 4.01, 11.7.4).
struct BatchResponseWriter {
    /// The most bytes of one answer: answers within a batch are held in memory.
    static let maxPartSize = 64 << 20

    let encoder: ResponseEncoder

    func write(_ results: [BatchResult], to incoming: IncomingRequest) async -> ([UInt8], contentType: String) {
        let parts = Dictionary(incoming.parts.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var answers: [BatchResponsePart] = []
        var failedGroups: Set<String> = []
        for result in results {
            let part = parts[result.id]
            let group = part?.atomicityGroup
            if !incoming.answersAsJSON, let group {
                if failedGroups.contains(group) { continue }
                // In multipart, one answer outside the change set tells that all of it failed.
                if let failure = Self.failure(of: group, in: results, parts) {
                    failedGroups.insert(group)
                    var answer = await answer(failure, part, incoming)
                    answer.atomicityGroup = nil
                    answers.append(answer)
                    continue
                }
            }
            answers.append(await answer(result, part, incoming))
        }
        if incoming.answersAsJSON { return (JSONBatch.writeResponse(answers), incoming.contentType) }
        let boundary = "batchresponse_\(ODataGuid.random())"
        return (
            MultipartBatch.writeResponse(answers, boundary: boundary), "multipart/mixed;boundary=\(boundary)"
        )
    }

    private static func failure(
        of group: String, in results: [BatchResult], _ parts: [String: IncomingPart]
    ) -> BatchResult? {
        let failures = results.filter { result in
            guard parts[result.id]?.atomicityGroup == group, case .failure = result.result else { return false }
            return true
        }
        // A dependant's 424 says less than the refusal that it comes from.
        return failures.first { result in
            if case .failure(let error) = result.result { error.status != 424 } else { false }
        } ?? failures.first
    }

    private func answer(
        _ result: BatchResult, _ part: IncomingPart?, _ batch: IncomingRequest
    ) async -> BatchResponsePart {
        let (message, body) = await message(result, part, batch)
        var bytes: [UInt8]
        var head = message
        do {
            bytes = try await body.collect(limit: Self.maxPartSize)
        } catch {
            let refusal = error as? ODataError ?? ODataError.internalError
            let replacement = encoder.encode(refusal, format: batch.format)
            head = replacement.0
            bytes = ErrorObject.bytes(refusal)
        }
        if bytes.isEmpty { head.headerFields[.contentType] = nil }
        return BatchResponsePart(
            id: part?.hasOwnID == true || batch.answersAsJSON ? result.id : nil, status: head.status.code,
            headers: head.headerFields.map { BatchHeader($0.name.rawName, $0.value) }, body: bytes,
            atomicityGroup: part?.atomicityGroup)
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
    /// 500 without a word of what happened inside, which is nobody's business outside.
    static var internalError: ODataError {
        ODataError(status: 500, code: "InternalError", message: "The service failed.")
    }
}
