import GRDB
import ODataQuery
import ODataSQL
import ODataService

/// Loads streams from a service. An interrupted load resumes.
struct StreamLoader: Sendable {
    let streams: StreamTable
    let remote: any ODataProvider
    var limits = DownloadLimits()

    /// The received part of a stream cannot be continued.
    private struct NoUse: Error {}

    /// The statuses of a missing or unreadable stream. A repeat would get the same answer.
    private static let definite: Set = [400, 404, 405, 410, 501]

    /// - Returns: whether it was loaded; `false` if it has not changed.
    func load(_ url: ODataURL, of owner: StreamTable.Owner) async throws -> Bool {
        do {
            return try await attempt(url, of: owner)
        } catch is NoUse {
            return try await attempt(url, of: owner)
        }
    }

    private func attempt(_ url: ODataURL, of owner: StreamTable.Owner) async throws -> Bool {
        let (seen, known, partial) = try await streams.database.read { database in
            (
                try StreamTable.info(owner, in: database), try StreamTable.downloaded(owner, in: database),
                try StreamTable.partial(owner, in: database)
            )
        }
        // A local stream is the visible one. The downloaded stream behind it appears after an undo.
        guard seen?.isLocal != true || known != nil else {
            try await streams.database.write { try StreamTable.settle(owner, in: $0) }
            return false
        }
        var request = ODataRequest(.read, url)
        if owner.property.isEmpty {
            let row = RowReference(set: owner.set, rowID: owner.rowID)
            request.link = try await streams.database.read { try EntityLinks.media(of: row, in: $0) }
        }
        var offset: Int64 = 0
        if let partial, partial.etag != nil {
            offset = partial.length / Int64(StreamChunks.size) * Int64(StreamChunks.size)
        }
        if offset > 0, let etag = partial?.etag {
            request.headers["Range"] = "bytes=\(offset)-"
            request.headers["If-Range"] = etag
        } else if let known {
            request.ifNoneMatch = known.etag
        }
        let response: ODataResponse
        do {
            response = try await remote.execute(request)
        } catch let error as ODataError where error.status == 416 {
            // There is nothing behind the received part, and the service has not confirmed that it is complete.
            guard offset > 0, let partial else { throw error }
            try await drop(partial)
            throw NoUse()
        } catch let error as ODataError where Self.definite.contains(error.status) {
            // The service has answered. If another load has replaced this one, the stream belongs to that load
            // and stays due until its end.
            try await streams.database.write { try StreamTable.settle(owner, in: $0) }
            throw error
        }
        guard response.status != 304 else {
            try await streams.database.write { try StreamTable.settle(owner, in: $0) }
            return false
        }
        guard case .raw(let bytes, let contentType) = response.body else {
            try await streams.database.write { try StreamTable.settle(owner, in: $0) }
            throw ODataError.notFound(url.description)
        }
        let id: Int64
        if response.status == 206, offset > 0, let partial {
            guard response.goesOn(at: offset, of: partial.etag) else {
                try await drop(partial)
                throw NoUse()
            }
            id = partial.id
        } else {
            offset = 0
            id = try await streams.begin(contentType: contentType, isLocal: false)
            try await streams.database.write { database in
                try database.execute(
                    sql: "UPDATE outpost_stream SET entity_set = ?, row_id = ?, property = ?, etag = ? WHERE id = ?",
                    arguments: [owner.set, owner.rowID, owner.property, response.etag, id])
                // From now on, this load is the due one.
                try StreamTable.settle(owner, but: id, in: database)
            }
        }
        let length = try await streams.append(bounded(bytes, url), to: id, after: offset)
        let etag = response.etag ?? (response.status == 206 ? partial?.etag : nil)
        try await streams.database.write { database in
            try StreamTable.attach(id, to: owner, length: length, etag: etag, in: database)
        }
        return true
    }

    /// The bytes, followed by an error if they exceed the limit of a stream.
    private func bounded(_ bytes: ByteStream, _ url: ODataURL) -> ByteStream {
        let received = LockedState(Int64(0))
        let most = limits.streamBytes
        return ByteStream(length: bytes.length) {
            guard let chunk = try await bytes.next() else { return nil }
            let total = received.withLock { total in
                total += Int64(chunk.count)
                return total
            }
            guard total <= most else {
                throw OfflineError.endless(query: "the stream \(url)", reason: "it has more than \(most) bytes")
            }
            return chunk
        }
    }

    private func drop(_ partial: StreamTable.Info) async throws {
        try await streams.database.write { try StreamTable.empty(partial.id, in: $0) }
    }
}

extension ODataResponse {
    /// Whether the response has the requested bytes: the rest of the same version, from an offset on (RFC 9110,
    /// 15.3.7).
    fileprivate func goesOn(at offset: Int64, of known: String?) -> Bool {
        if let etag, etag != known { return false }
        let field = headers.first { $0.key.lowercased() == "content-range" }?.value.lowercased() ?? ""
        guard field.hasPrefix("bytes ") else { return false }
        return Int64(field.dropFirst("bytes ".count).drop { $0 == " " }.prefix { $0 != "-" }) == offset
    }
}
