import HTTPTypes
import ODataFormat
import ODataModel
import ODataService

/// The responses so far to a batch that is executed asynchronously (OData Protocol 4.01, 11.7.6 *Asynchronous Batch
/// Requests*; OData JSON Format 4.01, 19.6).
///
/// Each response is encoded as soon as it is known, and is retained as long as the monitor, so that clients can
/// request it again.
actor BatchProgress {
    private let incoming: IncomingRequest
    private let writer: BatchResponseWriter
    private var parts: [BatchResponsePart] = []
    private var known: Set<String> = []
    /// The memory of all responses together, and the error if they exceeded it.
    nonisolated let share: AnswerSpace.Share
    private var refusal: ODataError?

    /// Creates an empty list of responses; `nil` if the request is not a batch or contains an unreadable request.
    ///
    /// The refusals of unreadable requests belong between the other responses, which are not known one by one.
    init?(_ incoming: IncomingRequest, _ model: EntityDataModel, share: AnswerSpace.Share) {
        guard case .batch = incoming.bound.resource.target, incoming.parts.allSatisfy({ $0.item != nil }) else {
            return nil
        }
        self.incoming = incoming
        self.share = share
        writer = BatchResponseWriter(encoder: ResponseEncoder(model: model))
    }

    /// Adds the result of one request, or the results of one change set.
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

    /// Adds the results that the provider did not report before.
    func addMissing(_ results: [BatchResult]) async { await add(results.filter { !known.contains($0.id) }) }

    /// Returns all responses from a position on, after the batch has finished.
    ///
    /// - Throws: 413 if the responses exceeded the limit, 400 if there are fewer.
    func answer(from position: Int) throws(ODataError) -> (HTTPResponse, ByteStream) {
        if let refusal { throw refusal }
        guard position <= parts.count else {
            throw ODataError(
                status: 400, code: "InvalidQuery", message: "There are \(parts.count) answers.", target: "$skiptoken")
        }
        let message = message(from: position, nextLink: nil)
        return (message.head, ByteStream(message.body))
    }

    /// Returns the responses so far from a position on, with the URL of the following ones; `nil` if there are none
    /// yet.
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
    /// The size in bytes, including header fields, which are all that many responses have.
    fileprivate var size: Int {
        headers.reduce(body.count) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }
}
