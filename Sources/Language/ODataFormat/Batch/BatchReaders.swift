import ODataModel

/// Reads a batch request in chunks as they arrive (OData 4.01, 11.7).
///
/// Each request is returned as soon as it is complete, so that memory use does not grow with the number of
/// requests.
///
/// ```swift
/// var reader = try BatchRequestReader(contentType: type)
/// for try await chunk in body {
///     reader.append(chunk)
///     while let request = try reader.next() { … }
/// }
/// reader.finish()
/// while let request = try reader.next() { … }
/// ```
public struct BatchRequestReader: Sendable {
    private var source: BatchSource
    /// The ids of a JSON batch so far, on which later requests may depend.
    private var ids: Set<String> = []
    private var groups: Set<String> = []
    private var lastGroup: String?

    /// Creates a reader for the format of a `Content-Type` header.
    ///
    /// - Throws: ``BatchError/Reason/noBoundary(_:)`` if the format is neither JSON nor multipart with a boundary.
    public init(contentType: String) throws(BatchError) {
        source = try BatchSource(contentType: contentType, isRequest: true)
    }

    init(_ source: BatchSource) { self.source = source }

    /// Adds the next chunk.
    public mutating func append(_ bytes: some Sequence<UInt8>) { source.append(bytes) }

    /// Marks the end of the batch.
    public mutating func finish() { source.finish() }

    /// Returns the next request; `nil` if more bytes are needed, and after the last request.
    ///
    /// A single unreadable request is returned with its ``BatchRequestPart/problem``.
    ///
    /// - Throws: ``BatchError`` with the line and the expected text, if the requests cannot be separated.
    public mutating func next() throws(BatchError) -> BatchRequestPart? {
        switch try source.next() {
        case .message(let message): request(message)
        case .item(let item, let position): request(item, position)
        case nil: nil
        }
    }

    private func request(_ message: MultipartReader.Message) -> BatchRequestPart {
        var part = BatchRequestPart(
            id: message.id, method: "", url: "", headers: message.headers, body: message.body,
            atomicityGroup: message.group, problem: message.problem)
        guard part.problem == nil else { return part }
        let line = message.startLine
        let shown = String(line.text.prefix(80))
        func problem(_ reason: BatchError.Reason, expected: String) -> BatchError {
            BatchError(reason: reason, offset: line.offset, line: line.number, expected: expected)
        }
        var words = line.text.parts(between: " ")
        // The version may be missing, as in an example of the standard (OData Protocol 4.01, 11.7.7.1).
        if words.count > 2, words[words.count - 1].begins(with: "HTTP/") { words.removeLast() }
        let isToken = words.first?.utf8.allSatisfy { 0x41...0x5A ~= $0 || 0x61...0x7A ~= $0 || $0 == 0x2D } ?? false
        guard words.count >= 2, isToken, words.count > 2 || !words[1].begins(with: "HTTP/") else {
            part.problem = problem(.malformedStartLine(shown), expected: "a request line such as GET Orders HTTP/1.1")
            return part
        }
        part.method = String(words[0])
        part.url = words[1...].joined(separator: " ")
        if message.group != nil, ["GET", "HEAD", "OPTIONS"].contains(part.method.uppercased()) {
            part.problem = problem(
                .queryInChangeSet(shown), expected: "requests that change something in a change set")
        }
        return part
    }

    private mutating func request(_ item: JSONBatchItem, _ position: JSONPosition) -> BatchRequestPart {
        var part = BatchRequestPart(
            id: item.id, method: item.method?.uppercased() ?? "", url: item.url ?? "", headers: item.headers,
            atomicityGroup: item.group, dependsOn: item.dependsOn, condition: item.condition)
        do throws(BatchError) {
            try note(item, position)
            part.body = try item.bytes(at: position)
        } catch {
            part.problem = error
        }
        return part
    }

    /// Checks a request against earlier requests, and records its id and group.
    private mutating func note(_ item: JSONBatchItem, _ position: JSONPosition) throws(BatchError) {
        let isNewGroup = item.group != lastGroup
        lastGroup = item.group
        func missing(_ member: String) -> BatchError {
            .at(position, .missingMember(member), expected: "the members id, method and url")
        }
        guard let id = item.id else { throw missing("id") }
        guard item.method?.isEmpty == false else { throw missing("method") }
        guard item.url?.isEmpty == false else { throw missing("url") }
        guard !ids.contains(id), !groups.contains(id) else {
            throw .at(position, .duplicateID(id), expected: "each id once")
        }
        // Later requests may depend on an unreadable request and fail with it.
        ids.insert(id)
        for other in item.dependsOn where other == id || !ids.contains(other) && !groups.contains(other) {
            throw .at(position, .unknownDependency(other), expected: "the id of an earlier request or group")
        }
        guard let group = item.group, isNewGroup else { return }
        guard !ids.contains(group) else {
            throw .at(position, .duplicateID(group), expected: "each id once")
        }
        guard groups.insert(group).inserted else {
            throw .at(position, .scatteredGroup(group), expected: "the requests of a group side by side")
        }
    }

    /// Returns all requests of a whole batch.
    mutating func all(_ bytes: [UInt8]) throws(BatchError) -> [BatchRequestPart] {
        append(bytes)
        finish()
        var parts: [BatchRequestPart] = []
        while let part = try next() {
            if let problem = part.problem { throw problem }
            parts.append(part)
        }
        return parts
    }
}

/// Reads a batch response in chunks as they arrive. Memory use does not grow with the number of responses.
public struct BatchResponseReader: Sendable {
    private var source: BatchSource

    /// Creates a reader for the format of a `Content-Type` header.
    ///
    /// - Throws: ``BatchError/Reason/noBoundary(_:)`` if the format is neither JSON nor multipart with a boundary.
    public init(contentType: String) throws(BatchError) {
        source = try BatchSource(contentType: contentType, isRequest: false)
    }

    init(_ source: BatchSource) { self.source = source }

    /// Adds the next chunk.
    public mutating func append(_ bytes: some Sequence<UInt8>) { source.append(bytes) }

    /// Marks the end of the batch.
    public mutating func finish() { source.finish() }

    /// Returns the next response; `nil` if more bytes are needed, and after the last response.
    ///
    /// - Throws: ``BatchError`` with the line and the expected content.
    public mutating func next() throws(BatchError) -> BatchResponsePart? {
        switch try source.next() {
        case .message(let message): try response(message)
        case .item(let item, let position): try response(item, position)
        case nil: nil
        }
    }

    private func response(_ message: MultipartReader.Message) throws(BatchError) -> BatchResponsePart {
        let line = message.startLine
        let words = line.text.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/"), words[1].utf8.count == 3, let status = Int(words[1]),
            (100...999).contains(status)
        else {
            throw BatchError(
                reason: .malformedStartLine(String(line.text.prefix(80))), offset: line.offset, line: line.number,
                expected: "a status line such as HTTP/1.1 200 OK")
        }
        return BatchResponsePart(
            id: message.id, status: status, headers: message.headers, body: message.body,
            atomicityGroup: message.group)
    }

    private func response(_ item: JSONBatchItem, _ position: JSONPosition) throws(BatchError) -> BatchResponsePart {
        guard let status = item.status, (100...999).contains(status) else {
            throw .at(
                position, .malformedStatus(item.status.map(String.init) ?? ""), expected: "a status of three digits")
        }
        return BatchResponsePart(
            id: item.id, status: status, headers: item.headers, body: try item.bytes(at: position),
            atomicityGroup: item.group)
    }

    /// Returns all responses of a whole batch.
    mutating func all(_ bytes: [UInt8]) throws(BatchError) -> [BatchResponsePart] {
        append(bytes)
        finish()
        var parts: [BatchResponsePart] = []
        while let part = try next() { parts.append(part) }
        return parts
    }
}

/// A reader of a batch in either format. Exactly one of the two readers exists; separate properties allow changes
/// in place.
struct BatchSource: Sendable {
    private var multipart: MultipartReader?
    private var json: JSONBatchReader?

    enum Part {
        case message(MultipartReader.Message)
        case item(JSONBatchItem, JSONPosition)
    }

    init(_ reader: MultipartReader) { multipart = reader }

    init(_ reader: JSONBatchReader) { json = reader }

    init(contentType: String, isRequest: Bool) throws(BatchError) {
        let type = MultipartSyntax.trimmed(contentType.prefix { $0 != ";" }).lowercased()
        if type == "application/json" {
            self.init(JSONBatchReader(isRequest ? "requests" : "responses"))
        } else {
            let boundary = try MultipartBatch.boundary(contentType: contentType)
            self.init(MultipartReader(boundary: boundary, isRequest: isRequest))
        }
    }

    mutating func append(_ bytes: some Sequence<UInt8>) {
        multipart?.append(bytes)
        json?.append(bytes)
    }

    mutating func finish() {
        multipart?.finish()
        json?.finish()
    }

    mutating func next() throws(BatchError) -> Part? {
        if let message = try multipart?.next() { return .message(message) }
        if let (item, position) = try json?.next() { return .item(item, position) }
        return nil
    }
}
