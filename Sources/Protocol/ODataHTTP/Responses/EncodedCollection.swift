import ODataFormat
import ODataModel
import ODataService

/// A collection that stayed encoded because the request asked for a format (``ODataRequest/format``): its rows are taken
/// straight from the bytes, as they arrive, and no entity is made of them.
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
    /// Some bytes of the collection.
    public struct Part: Sendable {
        fileprivate var chunks: [[UInt8]] = []
        /// How many bytes they are.
        public fileprivate(set) var byteCount = 0
        /// Whether nothing follows.
        public fileprivate(set) var isLast = false
    }

    private let stream: ByteStream
    private let base: String?
    private let status: Int
    private let url: String
    @usableFromInline var reader: CollectionPayloadReader

    /// Takes over the body of a response.
    ///
    /// - Parameters:
    ///   - response: the response.
    ///   - request: the request that it answers.
    ///   - model: the model of the service.
    ///   - type: the declared type of the entities.
    ///   - strictness: what is made of undeclared properties, and of values that cannot be read.
    /// - Returns: `nil` when the body is not an encoded collection.
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

    /// Receives about so many bytes, or what there is up to the end. It goes on with the stream alone, so that what was
    /// received before can be read meanwhile.
    ///
    /// - Throws: what the stream throws.
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

    /// Gives a sink every element whose bytes have arrived with a part; the parts must come in their order.
    ///
    /// - Throws: ``ODataError`` where the service broke off with an error object, ``InvalidResponseError`` where the text
    ///   cannot be read, and what the sink throws.
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
        // An error object within a successful response is the service's word (OData JSON Format 4.01, 21.2).
        case PayloadError.service(let payload): ODataError(payload, status: 500)
        case let error as PayloadError: malformed(error.description)
        case let error as JSONError: malformed(error.description)
        default: error
        }
    }

    private func malformed(_ problem: String) -> InvalidResponseError {
        InvalidResponseError(status: status, problem: .malformed(problem), url: url)
    }

    /// A link that the end of the collection gave, made absolute where it was relative to the URL that was requested.
    public func resolved(_ link: String, in summary: CollectionSummary) -> String {
        base.map { LinkResolution.resolve(link, context: summary.context, request: $0) } ?? link
    }

    /// That the collection ended before its end: whoever sweeps away what did not come must be able to trust that all
    /// has come.
    public var incomplete: InvalidResponseError {
        malformed("the collection has no end")
    }
}
