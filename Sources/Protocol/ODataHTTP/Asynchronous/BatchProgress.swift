import HTTPTypes
import ODataFormat
import ODataModel
import ODataService

/// The answers to a batch that is answered later, as far as they are there
/// (OData Protocol 4.01, 11.7.6 *Asynchronous Batch Requests*; OData JSON Format 4.01, 19.6).
///
/// Each answer is encoded when it is there, and kept as long as the monitor is: a client that lost some asks for them
/// again.
actor BatchProgress {
    private let incoming: IncomingRequest
    private let writer: BatchResponseWriter
    private var parts: [BatchResponsePart] = []
    private var known: Set<String> = []
    /// The room that all answers take together, and why they have none.
    nonisolated let share: AnswerSpace.Share
    private var refusal: ODataError?

    /// Keeps the answers to a batch; `nil` where the request is none, or one with requests that cannot be read, whose
    /// refusals stand between the others.
    init?(_ incoming: IncomingRequest, _ model: EntityDataModel, share: AnswerSpace.Share) {
        guard case .batch = incoming.bound.resource.target, incoming.parts.allSatisfy({ $0.item != nil }) else {
            return nil
        }
        self.incoming = incoming
        self.share = share
        writer = BatchResponseWriter(encoder: ResponseEncoder(model: model))
    }

    /// Keeps the answers to one request, or to those of one change set.
    func add(_ results: [BatchResult]) async {
        known.formUnion(results.map(\.id))
        guard refusal == nil else { return }
        let added = await writer.parts(results, of: incoming)
        do {
            try share.take(added.reduce(0) { $0 + $1.size })
            parts += added
        } catch {
            refusal = error
            parts = []
            share.release()
        }
    }

    /// Keeps the answers that the provider has not told of before.
    func addMissing(_ results: [BatchResult]) async { await add(results.filter { !known.contains($0.id) }) }

    /// All answers from a position on, when there are no more to come.
    ///
    /// - Throws: 413 when they are more than may be kept, 400 when there are not as many.
    func answer(from position: Int) throws(ODataError) -> (HTTPResponse, ByteStream) {
        if let refusal { throw refusal }
        guard position <= parts.count else {
            throw ODataError(
                status: 400, code: "InvalidQuery", message: "There are \(parts.count) answers.", target: "$skiptoken")
        }
        let message = message(from: position, nextLink: nil)
        return (message.head, ByteStream(message.body))
    }

    /// The answers from a position on, with the address of those that are still to come; `nil` when there is none yet.
    func interim(from position: Int, _ address: @Sendable (Int) -> String) -> StatusMonitors.Answer? {
        guard position < parts.count else { return nil }
        return message(from: position, nextLink: address(parts.count))
    }

    private func message(from position: Int, nextLink: String?) -> StatusMonitors.Answer {
        let boundary = "batchresponse_\(ODataGuid.random())"
        let isJSON = incoming.answersAsJSON
        var output = BatchResponseOutput(isJSON ? .json : .multipart(boundary: boundary))
        var body: [UInt8] = []
        for part in parts[position...] { body += output.append(part) }
        body +=
            nextLink.map { output.finish(nextLink: $0, isPrefixed: incoming.format.isPrefixed) } ?? output.finish()
        var head = HTTPResponse(status: .ok)
        head.headerFields[.odataVersion] = incoming.format.version.rawValue
        head.headerFields[.contentType] = isJSON ? incoming.contentType : "multipart/mixed;boundary=\(boundary)"
        return StatusMonitors.Answer(head: head, body: body)
    }
}

extension BatchResponsePart {
    /// The bytes that it takes, those of its header fields included: many answers are nothing else.
    fileprivate var size: Int {
        headers.reduce(body.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }
}
