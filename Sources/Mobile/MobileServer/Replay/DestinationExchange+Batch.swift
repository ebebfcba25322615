import HTTPTypes
import ODataFormat
import ODataHTTP
import ODataService

/// Batches of a destination: their repeatable units are guarded, in both formats.
extension DestinationExchange {
    /// Executes a batch. `nil` if the request is no batch in one of the two formats.
    func batched(
        _ request: HTTPRequest, _ body: ByteStream, on way: BatchWay
    ) async throws -> (HTTPResponse, ByteStream)? {
        let isBatch = request.path?.prefix { $0 != "?" }.hasSuffix("/$batch") ?? false
        guard isBatch, request.method == .post,
            let type = request.headerFields[.contentType].flatMap({ MediaType($0) })
        else { return nil }
        let boundary = type.matches("multipart", "mixed") ? type["boundary"] : nil
        guard boundary != nil || type.isJSON else { return nil }
        let bytes = try await collected(body)
        let isV2 = (try? await runtime.dialect()) == "v2"
        let continues = request.headerFields[values: .prefer].contains {
            $0.contains("continue-on-error") && !$0.contains("continue-on-error=false")
        }
        let batch = RepeatableBatch(
            replay: replay, owner: owner, recognisesRepeats: way.recognisesRepeats,
            continuesOnError: isV2 || continues, forward: way.forward)
        if let boundary {
            let parts = try MultipartBody(bytes, boundary: boundary)
            guard RepeatableBatch.isNeeded(for: parts) else { return try await way.plain(bytes) }
            return try await batch.execute(parts)
        }
        let requests = try way.filtered(Self.requests(in: bytes))
        guard RepeatableBatch.isNeeded(for: requests) else {
            return try await way.plain(JSONBatch.writeRequest(requests))
        }
        return try await batch.execute(requests)
    }

    /// The way of a batch to the service.
    struct BatchWay: Sendable {
        /// Whether the back end recognises repeats itself.
        var recognisesRepeats: Bool
        /// Removes fields that must not reach the back end from the requests of a batch in JSON.
        var filtered: @Sendable ([BatchRequestPart]) -> [BatchRequestPart]
        /// Sends a batch without repeatable units.
        var plain: @Sendable ([UInt8]) async throws -> (HTTPResponse, ByteStream)
        /// Sends a batch with one unit. It throws ``ReplayGuard/NotSent`` if the batch did not leave the server.
        var forward: @Sendable ([UInt8]) async throws -> ReplayGuard.Answer
    }

    /// The way through the proxy.
    func way(
        of request: HTTPRequest, through proxy: DestinationProxy, _ circumstances: DestinationProxy.Circumstances
    ) -> BatchWay {
        let isJSON = request.headerFields[.contentType].flatMap { MediaType($0) }?.isJSON ?? false
        let passes = circumstances.passesRepeatability
        return BatchWay(
            recognisesRepeats: passes,
            filtered: { requests in
                requests.map { part in
                    var part = part
                    // Fields of the device must not speak for it to a back end that trusts this server.
                    part.headers.removeAll { ProxiedFields.isKeptBack($0.name) }
                    return part
                }
            },
            plain: { bytes in
                let body = isJSON && !passes ? Self.withoutRepeatability(bytes) : bytes
                let outgoing = try await proxy.outgoing(request, ByteStream(body), circumstances: circumstances)
                guard isJSON else { return try await proxy.send(outgoing, circumstances) }
                do {
                    let answer = Self.mapped(try await proxy.whole(outgoing, circumstances), by: proxy.mapping)
                    return (answer.response, ByteStream(answer.body))
                } catch let error as ReplayGuard.NotSent {
                    throw error.reason
                }
            },
            forward: { bytes in
                let outgoing: DestinationProxy.Outgoing
                do {
                    let body = isJSON && !passes ? Self.withoutRepeatability(bytes) : bytes
                    outgoing = try await proxy.outgoing(request, ByteStream(body), circumstances: circumstances)
                } catch {
                    throw ReplayGuard.NotSent(reason: DestinationFailure.error(error))
                }
                let answer = try await proxy.whole(outgoing, circumstances)
                return isJSON ? Self.mapped(answer, by: proxy.mapping) : answer
            })
    }

    /// The way through a provider, which checks the rights of the user.
    func way(
        of request: HTTPRequest, recognisesRepeats: Bool, timeout: Duration,
        by serve: @escaping @Sendable (HTTPRequest, ByteStream) async throws -> (HTTPResponse, ByteStream)
    ) -> BatchWay {
        BatchWay(
            recognisesRepeats: recognisesRepeats, filtered: { $0 },
            plain: { try await serve(request, ByteStream($0)) },
            forward: { bytes in
                let (response, stream) = try await serve(request, ByteStream(bytes))
                let body = try await withTimeLimit(timeout) {
                    try await stream.collect(limit: DestinationProxy.batchLimit)
                }
                return ReplayGuard.Answer(response: response, body: body)
            })
    }

    private func collected(_ body: ByteStream) async throws -> [UInt8] {
        do {
            return try await body.collect(limit: Int(clamping: services.configuration.limits.upload))
        } catch let error as ODataError where error.status == 413 {
            throw DestinationFailure.tooLarge
        }
    }

    /// Reads a batch in JSON.
    ///
    /// - Throws: ``ODataError`` 400 if the batch or one of its requests cannot be read.
    private static func requests(in bytes: [UInt8]) throws(ODataError) -> [BatchRequestPart] {
        guard let requests = try? JSONBatch.readRequest(bytes), requests.allSatisfy({ $0.problem == nil }) else {
            throw DestinationFailure.malformedBatch
        }
        return requests
    }

    /// Removes the fields of repeatable requests, which a back end that does not know them may refuse.
    private static func withoutRepeatability(_ bytes: [UInt8]) -> [UInt8] {
        guard var requests = try? JSONBatch.readRequest(bytes) else { return bytes }
        for index in requests.indices {
            requests[index].headers.removeAll { $0.name.lowercased().hasPrefix("repeatability-") }
        }
        return JSONBatch.writeRequest(requests)
    }

    /// Returns the answer to a batch in JSON with the logical codes of errors. A back end cannot say the codes of this
    /// server (`design-review.md` 10).
    private static func mapped(_ answer: ReplayGuard.Answer, by mapping: ErrorMapping) -> ReplayGuard.Answer {
        guard var parts = try? JSONBatch.readResponse(answer.body) else { return answer }
        for index in parts.indices {
            parts[index].headers.removeAll { ProxiedFields.isKeptFromDevice($0.name) }
            guard parts[index].status >= 400 else { continue }
            (parts[index].status, parts[index].body) = mapping.apply(to: parts[index].body, status: parts[index].status)
        }
        var answer = answer
        answer.body = JSONBatch.writeResponse(parts)
        answer.response.headerFields[.contentLength] = String(answer.body.count)
        return answer
    }
}
