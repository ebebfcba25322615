import HTTPTypes
import ODataHTTP
import ODataModel
import ODataService

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

/// A response to `$metadata`, which is parsed or explained by an error.
struct MetadataAnswer {
    let url: String
    let response: HTTPResponse
    let bytes: [UInt8]

    func model() throws(MetadataError) -> EntityDataModel {
        switch response.status.code {
        case 200..<300: break
        case 300..<400:
            throw .redirected(url: url, to: response.headerFields[.location] ?? "an address it does not name")
        case 401: throw .unauthorized(url: url)
        case 403: throw .forbidden(url: url)
        case 404, 410: throw .notFound(url: url)
        default: throw .refused(url: url, ErrorBody(bytes).error(for: response))
        }
        do {
            return try CSDLReader.read(bytes)
        } catch {
            switch error.reason {
            case .html: throw .webPage(url: url, title: title)
            case .empty, .json, .notCSDL: throw .notOData(url: url, contentType: response.headerFields[.contentType])
            case .truncated: throw .incomplete(url: url, error)
            case .malformed where !looksLikeXML:
                throw .notOData(url: url, contentType: response.headerFields[.contentType])
            default: throw .invalid(url: url, error)
            }
        }
    }

    private var looksLikeXML: Bool {
        bytes.prefix(200).first { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF } == UInt8(ascii: "<")
    }

    /// The title of a web page, which often explains the problem.
    private var title: String? {
        let text = String(decoding: bytes.prefix(4096), as: UTF8.self)
        guard let start = text.firstRange(of: "<title>") ?? text.firstRange(of: "<TITLE>") else { return nil }
        let rest = text[start.upperBound...]
        guard let end = rest.firstIndex(of: "<") else { return nil }
        let words = rest[..<end].split(whereSeparator: \.isWhitespace).joined(separator: " ")
        return words.isEmpty ? nil : String(words.prefix(120))
    }
}
