import ODataModel
import ODataQuery

/// Reads and writes media entities and stream properties without holding them in memory as a whole (OData Protocol
/// 4.01, 11.4.7 and 11.4.8).
extension DataService {
    /// Returns the bytes of a media entity or stream property with their media type. The bytes are fetched on
    /// demand.
    ///
    /// - Parameter chunkSize: the size of each chunk; `nil` for chunks as they arrive.
    /// - Throws: ``DataServiceError/unexpectedAnswer(expected:)`` if the response has no stream.
    public func media(
        _ url: ODataURL, chunkSize: ChunkSize? = nil
    ) async throws -> (ByteStream, contentType: String) {
        guard case .raw(let stream, let contentType) = try await answer(to: ODataRequest(.read, url)).body else {
            throw DataServiceError.unexpectedAnswer(expected: "a stream")
        }
        return (chunkSize.map { stream.chunked($0) } ?? stream, contentType)
    }

    /// Returns the bytes of a media entity or stream property.
    ///
    /// - Parameters:
    ///   - entity: the entity. Its media read link is followed if the service gave one.
    ///   - property: the stream property; `nil` for the entity's own stream.
    ///   - chunkSize: the size of each chunk.
    public func media(
        of entity: ODataEntity, property: String? = nil, in set: String? = nil,
        chunkSize: ChunkSize = .standard
    ) async throws -> (ByteStream, contentType: String) {
        let request = try await mediaRequest(.read, entity, property, set)
        guard case .raw(let stream, let contentType) = try await answer(to: request).body else {
            throw DataServiceError.unexpectedAnswer(expected: "a stream")
        }
        return (stream.chunked(chunkSize), contentType)
    }

    /// Creates a media entity from its bytes (OData Protocol 4.01, 11.4.7.1).
    ///
    /// Set its properties afterwards with ``update(_:in:overwriting:readingConflict:sendingEmpty:)``.
    ///
    /// - Parameter slug: the suggested name (RFC 5023, 9.7).
    /// - Returns: the entity that the service created.
    @discardableResult
    public func createMedia(
        in set: String, _ bytes: ByteStream, contentType: String, slug: String? = nil
    ) async throws -> ODataEntity {
        guard let shape = try await provider.model.shape(ofSet: set) else {
            throw DataServiceError.unknownEntitySet(set)
        }
        var request = ODataRequest(
            .create, ODataURL(set: set), body: .media(bytes, contentType: contentType),
            preferences: Preferences(returns: .representation))
        if let slug { request.headers["Slug"] = slug }
        return try await created(request, from: ODataEntity(shape: shape))
    }

    /// Replaces the bytes of a media entity or stream property (OData Protocol 4.01, 11.4.7.2 and 11.4.8.1).
    ///
    /// If the ETag of the bytes is known, the service refuses the change after a change by someone else.
    ///
    /// - Returns: the new ETag of the stream; `nil` if the service gives none.
    /// - Throws: ``ConflictError`` if someone else changed the bytes.
    @discardableResult
    public func setMedia(
        of entity: ODataEntity, property: String? = nil, in set: String? = nil, _ bytes: ByteStream,
        contentType: String,
        overwriting: Bool = false
    ) async throws -> String? {
        var request = try await mediaRequest(.replace, entity, property, set)
        request.body = .media(bytes, contentType: contentType)
        request.ifMatch = overwriting ? "*" : mediaETag(entity, property)
        return try await ConflictError.detected(entity, request) { try await send(request).etag }
    }

    /// Deletes the bytes of a stream property (OData Protocol 4.01, 11.4.8.2), or of a media entity if the service
    /// allows a media entity without bytes.
    public func deleteMedia(of entity: ODataEntity, property: String? = nil, in set: String? = nil) async throws {
        var request = try await mediaRequest(.delete, entity, property, set)
        request.ifMatch = mediaETag(entity, property)
        try await ConflictError.detected(entity, request) { _ = try await send(request) }
    }

    private func mediaETag(_ entity: ODataEntity, _ property: String?) -> String? {
        guard let property else { return entity.control.mediaEtag }
        if case .string(let etag)? = entity.control.annotations["\(property)@odata.mediaEtag"] { return etag }
        return nil
    }

    private func mediaRequest(
        _ method: ODataRequest.Method, _ entity: ODataEntity, _ property: String?, _ set: String?
    ) async throws -> ODataRequest {
        if method == .read, property == nil, set == nil, let link = entity.control.mediaReadLink {
            var request = ODataRequest(following: link)
            // The URL beside the link tells the decoder to expect a stream.
            request.url = ODataURL(path: ResourcePath([.value]))
            if let addressed = try? await self.request(.read, entity, in: nil), addressed.link == nil {
                request.url = addressed.url
                request.url.path.segments.append(.value)
            }
            return request
        }
        var request = try await self.request(method, entity, in: set)
        if let link = request.link {
            request.link = "\(link)/\(property ?? "$value")"
            request.url = ODataURL(path: ResourcePath([.value]))
        } else if let property {
            request.url.path.segments.append(.name(Identifier(property), .none))
        } else {
            request.url.path.segments.append(.value)
        }
        return request
    }
}

extension ByteStream {
    /// Returns the same bytes in chunks of one size, except for the last chunk.
    public func chunked(_ size: ChunkSize = .standard) -> ByteStream {
        let blocks = Blocks(self, size: size.bytes)
        return ByteStream(length: length, part: { range in slice(range)?.chunked(size) ?? ByteStream([]) }) {
            try await blocks.next()
        }
    }

    /// Collects chunks and returns them in blocks of one size.
    private actor Blocks {
        private let source: ByteStream
        private let size: Int
        private var rest: [UInt8] = []
        private var isAtEnd = false

        init(_ source: ByteStream, size: Int) {
            self.source = source
            self.size = size
        }

        func next() async throws -> [UInt8]? {
            while rest.count < size, !isAtEnd {
                guard let chunk = try await source.next() else {
                    isAtEnd = true
                    break
                }
                rest += chunk
            }
            guard !rest.isEmpty else { return nil }
            let block = Array(rest.prefix(size))
            rest.removeFirst(block.count)
            return block
        }
    }
}
