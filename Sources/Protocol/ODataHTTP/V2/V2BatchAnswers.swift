import HTTPTypes
import ODataFormat
import ODataService

/// Executes the requests of a V2 batch in order, and change sets as a whole (MS-ODATA, 2.2.7.6.4).
///
/// A failed request does not affect the following ones. All changes are made before the response begins, even if
/// the client does not read it. Reads after the last change are executed on demand, so only one of their responses
/// is held at a time.
///
/// Responses before a change must wait for it. Beyond a limit they become errors with status 413, without further
/// reads; the changes are still made.
actor V2BatchAnswers {
    /// The maximum size in bytes of the responses that wait for a change.
    static let maxWaitingSize = BatchResponseWriter.maxPartSize
    /// The size in bytes that the response to a change may always have, so that clients learn the result.
    private static let changeSize = 64 << 10
    /// The minimum size of a chunk in bytes, except for the last.
    private static let chunkSize = 16 << 10

    private let batch: ODataRequest
    private let provider: any ODataProvider
    private let encoder: V2ResponseEncoder
    private let alone: @Sendable (V2Request) async throws -> (HTTPResponse, ByteStream)
    /// The units of the batch: single requests and change sets.
    private let units: [[V2Request.Part]]
    private var position = 0
    /// The completed responses, the next one last.
    private var ready: [BatchResponsePart] = []
    private var output: BatchResponseOutput
    private var isFinished = false

    /// Creates the execution of a batch.
    ///
    /// - Parameter alone: answers a request outside change sets.
    init(
        _ request: V2Request, provider: any ODataProvider, encoder: V2ResponseEncoder, boundary: String,
        alone: @escaping @Sendable (V2Request) async throws -> (HTTPResponse, ByteStream)
    ) {
        batch = request.request
        self.provider = provider
        self.encoder = encoder
        self.alone = alone
        units = request.parts.reduce(into: []) { units, part in
            if let set = part.changeSet, units.last?.first?.changeSet == set {
                units[units.count - 1].append(part)
            } else {
                units.append([part])
            }
        }
        output = BatchResponseOutput(.multipart(boundary: boundary))
    }

    /// Executes all requests up to the last change.
    ///
    /// - Throws: only `CancellationError`.
    func makeChanges() async throws {
        guard let last = units.lastIndex(where: { $0.contains(where: \.isChange) }) else { return }
        var waiting: [BatchResponsePart] = []
        var room = Self.maxWaitingSize
        while position <= last {
            try Task.checkCancellation()
            for answer in await nextAnswers(atMost: room) {
                room = max(0, room - answer.body.count)
                waiting.append(answer)
            }
        }
        ready = waiting.reversed()
    }

    /// Returns the next bytes of the response; `nil` at the end.
    func next() async throws -> [UInt8]? {
        guard !isFinished else { return nil }
        var bytes: [UInt8] = []
        while bytes.count < Self.chunkSize {
            try Task.checkCancellation()
            if ready.isEmpty, position < units.count {
                ready = await nextAnswers(atMost: BatchResponseWriter.maxPartSize).reversed()
            }
            guard let answer = ready.popLast() else {
                isFinished = true
                return bytes + output.finish()
            }
            bytes += output.append(answer)
        }
        return bytes
    }

    // MARK: Answering

    private func nextAnswers(atMost limit: Int) async -> [BatchResponsePart] {
        let unit = units[position]
        position += 1
        return unit[0].changeSet == nil ? [await answer(to: unit[0], limit)] : await answers(toChangeSet: unit, limit)
    }

    private func answer(to part: V2Request.Part, _ limit: Int) async -> BatchResponsePart {
        do {
            let request = try part.result.get()
            guard limit > 0 || part.isChange else { throw Self.noRoom }
            return try await part.answer(
                await alone(request), atMost: part.isChange ? max(limit, Self.changeSize) : limit)
        } catch {
            return await part.refusal(RefusalWriter.refusal(error))
        }
    }

    /// Returns a response to each request, or one response for a failed change set.
    private func answers(toChangeSet unit: [V2Request.Part], _ limit: Int) async -> [BatchResponsePart] {
        let outcomes = await make(unit)
        var answers: [BatchResponsePart] = []
        var isRefused = false
        var room = limit
        for part in unit {
            switch (outcomes[part.id] ?? .failure(.internalError), part.result) {
            case (.success(let response), .success(let request)):
                var answer: BatchResponsePart
                do {
                    answer = try await part.answer(
                        await encoder.encode(response, to: request), atMost: max(room, Self.changeSize))
                } catch {
                    answer = await part.refusal(RefusalWriter.refusal(error))
                }
                answer.atomicityGroup = part.changeSet
                room = max(0, room - answer.body.count)
                answers.append(answer)
            case (.failure(let error), _), (_, .failure(let error)):
                if !isRefused { answers.append(await part.refusal(error)) }
                isRefused = true
            }
        }
        return answers
    }

    /// Returns the results of a change set's requests by id. No request is executed if one cannot be read.
    private func make(_ unit: [V2Request.Part]) async -> [String: Result<ODataResponse, ODataError>] {
        do {
            var request = batch
            let items = try unit.map { part in
                BatchItem(id: part.id, request: try part.result.get().request, atomicityGroup: part.changeSet)
            }
            request.body = .batch(items)
            request.preferences = Preferences()
            request.preferences.continueOnError = true
            guard case .batch(let results) = try await provider.execute(request).body else { return [:] }
            return Dictionary(results.map { ($0.id, $0.result) }, uniquingKeysWith: { first, _ in first })
        } catch {
            let refusal = RefusalWriter.refusal(error)
            return Dictionary(unit.map { ($0.id, .failure(refusal)) }, uniquingKeysWith: { first, _ in first })
        }
    }

    private static let noRoom = ODataError(
        status: 413, code: "AnswerTooLarge",
        message: "The answers before a change exceed \(maxWaitingSize) bytes; read this in a batch of its own.")
}

extension V2Request.Part {
    /// Whether the request may change data.
    fileprivate var isChange: Bool { changeSet != nil || (try? result.get().request.method) ?? .read != .read }

    /// Returns the response part for a message.
    ///
    /// - Throws: the errors of the stream, and ``ODataError`` with status 413 beyond the limit.
    fileprivate func answer(
        _ message: (HTTPResponse, ByteStream), atMost limit: Int
    ) async throws -> BatchResponsePart {
        BatchResponsePart(
            id: hasOwnID ? id : nil, status: message.0.status.code,
            headers: message.0.headerFields.map { BatchHeader($0.name.rawName, $0.value) },
            body: try await message.1.collect(limit: limit))
    }

    /// Returns the response part for an error.
    fileprivate func refusal(_ error: ODataError) async -> BatchResponsePart {
        let format = (try? result.get().format) ?? .verboseJSON(.v2)
        let message = V2ResponseEncoder.encode(error, format)
        return (try? await answer(message, atMost: .max))
            ?? BatchResponsePart(id: hasOwnID ? id : nil, status: error.status, headers: [], body: [])
    }
}
