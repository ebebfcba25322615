import HTTPTypes
import ODataHTTP
import ODataModel
import ODataService
import Synchronization

/// Loads the metadata once and keeps the model. A failure is not kept, so the next request tries again.
actor MetadataLoader {
    private var loaded: EntityDataModel?
    private var loading: Task<EntityDataModel, any Error>?

    init(_ model: EntityDataModel?) { loaded = model }

    /// Returns the model. Concurrent callers wait for the same load.
    func model(_ load: @escaping @Sendable () async throws -> EntityDataModel) async throws -> EntityDataModel {
        if let loaded { return loaded }
        if let loading { return try await loading.valueUnlessCancelled }
        let task = Task { try await self.land(load) }
        loading = task
        return try await task.valueUnlessCancelled
    }

    /// Loads the model. The model is stored before any waiting caller resumes.
    private func land(_ load: @Sendable () async throws -> EntityDataModel) async throws -> EntityDataModel {
        defer { loading = nil }
        let model = try await load()
        loaded = model
        return model
    }

    /// Replaces the model by one that was obtained in another way.
    ///
    /// - Returns: The previous model.
    func replace(by model: EntityDataModel) -> EntityDataModel? {
        defer { loaded = model }
        return loaded
    }

    /// Removes the model, so that the next request loads it again.
    func forget() { loaded = nil }
}

/// A response to `$metadata`, which is parsed as it arrives or explained by an error.
struct MetadataAnswer {
    private let url: String
    private let response: HTTPResponse
    private let body: ByteStream
    private let kept: KeptBytes

    /// Creates an answer with an unread body.
    ///
    /// - Parameters:
    ///   - url: the URL of the document.
    ///   - response: the status and the fields of the response.
    ///   - body: the body of the response.
    ///   - keepsBytes: whether the whole document is kept in ``bytes``, for a cache.
    init(url: String, response: HTTPResponse, body: ByteStream, keepsBytes: Bool) {
        let kept = KeptBytes(limit: keepsBytes ? .max : KeptBytes.beginning)
        self.url = url
        self.response = response
        self.body = body.observed { kept.add($0 ?? []) }
        self.kept = kept
    }

    /// The bytes read so far: all of them, or only the beginning.
    var bytes: [UInt8] { kept.bytes }

    /// Reads the body and returns the model.
    ///
    /// - Throws: ``MetadataError``; `CancellationError`; errors of the body.
    func model() async throws -> EntityDataModel {
        switch response.status.code {
        case 200..<300: break
        case 300..<400:
            throw MetadataError.redirected(
                url: url, to: response.headerFields[.location] ?? "an address it does not name")
        case 401: throw MetadataError.unauthorized(url: url)
        case 403: throw MetadataError.forbidden(url: url)
        case 404, 410: throw MetadataError.notFound(url: url)
        default: throw MetadataError.refused(url: url, ErrorBody(try await refusal()).error(for: response))
        }
        do {
            guard body.length.map({ $0 <= CSDLReader.maxBytes }) ?? true else { throw Self.tooLarge }
            return try await CSDLReader.read(chunks: body)
        } catch let error as CSDLError {
            throw await reason(error)
        }
    }

    private static let tooLarge = CSDLError(
        reason: .tooLarge(limit: CSDLReader.maxBytes), line: 1, column: 1, expected: "a smaller document")

    /// Returns the whole body of an error response.
    private func refusal() async throws -> [UInt8] {
        do {
            return try await body.collect(limit: CSDLReader.maxBytes)
        } catch let error as ODataError where error.status == 413 {
            throw MetadataError.invalid(url: url, Self.tooLarge)
        }
    }

    /// Returns the error for a body that cannot be parsed.
    private func reason(_ error: CSDLError) async -> MetadataError {
        switch error.reason {
        case .html:
            // The title may follow the position at which the reader stopped.
            while kept.bytes.count < KeptBytes.beginning, let chunk = try? await body.next(), !chunk.isEmpty {}
            return .webPage(url: url, title: title)
        case .empty, .json, .notCSDL: return .notOData(url: url, contentType: response.headerFields[.contentType])
        case .truncated: return .incomplete(url: url, error)
        case .malformed where !looksLikeXML:
            return .notOData(url: url, contentType: response.headerFields[.contentType])
        default: return .invalid(url: url, error)
        }
    }

    private var looksLikeXML: Bool {
        bytes.prefix(200).first { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF } == UInt8(ascii: "<")
    }

    /// The title of a web page, which often explains the problem.
    private var title: String? {
        let text = String(decoding: bytes.prefix(KeptBytes.beginning), as: UTF8.self)
        guard let start = text.firstRange(of: "<title>") ?? text.firstRange(of: "<TITLE>") else { return nil }
        let rest = text[start.upperBound...]
        guard let end = rest.firstIndex(of: "<") else { return nil }
        let words = rest[..<end].split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.isEmpty ? nil : String(words.prefix(120))
    }
}

/// The bytes of a body that are kept while the body is read.
private final class KeptBytes: Sendable {
    /// The number of bytes that explain a document without metadata, such as a web page.
    static let beginning = 4096

    private let limit: Int
    private let content = Mutex<[UInt8]>([])

    /// - Parameter limit: the maximum number of kept bytes.
    init(limit: Int) { self.limit = limit }

    var bytes: [UInt8] { content.withLock { $0 } }

    func add(_ chunk: [UInt8]) {
        content.withLock { content in content += chunk.prefix(limit - content.count) }
    }
}
