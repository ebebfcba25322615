import ODataFormat
import ODataModel
import ODataService

/// A collection that stays encoded because the request asked for a format (``ODataRequest/format``).
///
/// Its rows are read directly from the bytes as they arrive, without creating entities.
///
/// ```swift
/// guard var collection = EncodedCollection(response, to: request, model: model, type: shape.name) else { … }
/// var part: EncodedCollection.Part
/// repeat {
///     part = try await collection.receive(262_144)
///     try collection.read(part, into: &sink)
/// } while !part.isLast
/// ```
public struct EncodedCollection: Sendable {
    /// A part of the collection's bytes.
    public struct Part: Sendable {
        fileprivate var chunks: [[UInt8]] = []
        /// The size of the part in bytes.
        public fileprivate(set) var byteCount = 0
        /// Whether the part is the last one.
        public fileprivate(set) var isLast = false
    }

    private let stream: ByteStream
    private let base: String?
    private let status: Int
    private let url: String
    @usableFromInline var reader: CollectionPayloadReader

    /// Wraps the body of a response.
    ///
    /// - Parameters:
    ///   - response: the response.
    ///   - request: the request that it answers.
    ///   - model: the model of the service.
    ///   - type: the declared type of the entities.
    ///   - strictness: the treatment of undeclared properties and unreadable values.
    /// - Returns: `nil` if the body is not an encoded collection.
    public init?(
        _ response: ODataResponse, to request: ODataRequest, model: EntityDataModel, type: QualifiedName,
        strictness: Strictness = .lenient
    ) {
        guard case .encoded(let stream, _) = response.body else { return nil }
        self.stream = stream
        base = response.baseURL
        status = response.status
        url = String((response.baseURL ?? request.link ?? request.url.urlEncoded()).prefix { $0 != "?" })
        reader = CollectionPayloadReader(model: model, type: type, strictness: strictness)
    }

    /// Receives about the given number of bytes, or fewer at the end. It does not use the reader, so an earlier
    /// part can be read at the same time.
    ///
    /// - Throws: the errors of the stream.
    public func receive(_ count: Int) async throws -> Part {
        var part = Part()
        while part.byteCount < count {
            guard let chunk = try await stream.next() else {
                part.isLast = true
                break
            }
            part.byteCount += chunk.count
            part.chunks.append(chunk)
        }
        return part
    }

    /// Passes the elements that are complete with a part to a sink. The parts must be read in order.
    ///
    /// - Throws: ``ODataError`` if the service ended with an error object, ``InvalidResponseError`` if the text
    ///   cannot be read, and the errors of the sink.
    @inlinable
    public mutating func read<Sink: CollectionSink>(_ part: Part, into sink: inout Sink) throws {
        append(part)
        do {
            try reader.read(into: &sink)
        } catch {
            throw refusal(error)
        }
    }

    @usableFromInline
    mutating func append(_ part: Part) {
        for chunk in part.chunks { reader.append(chunk) }
        if part.isLast { reader.finish() }
    }

    @usableFromInline
    func refusal(_ error: any Error) -> any Error {
        switch error {
        // An error object within a successful response is an error of the service (OData JSON Format 4.01, 21.2).
        case PayloadError.service(let payload): ODataError(payload, status: 500)
        case let error as PayloadError: malformed(error.description)
        case let error as JSONError: malformed(error.description)
        default: error
        }
    }

    private func malformed(_ problem: String) -> InvalidResponseError {
        InvalidResponseError(status: status, problem: .malformed(problem), url: url)
    }

    /// Returns a link in the summary of the collection as an absolute URL.
    public func resolved(_ link: String, in summary: CollectionSummary) -> String {
        base.map { LinkResolution.resolve(link, context: summary.context, request: $0) } ?? link
    }

    /// The error for a collection without an end. Rows that are missing from it must not be removed locally.
    public var incomplete: InvalidResponseError {
        malformed("the collection has no end")
    }
}
