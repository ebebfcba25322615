import ODataModel

/// Batches in JSON (OData JSON Format 4.01, 19 *Batch Requests and Responses*).
///
/// A body of a JSON media type, or of none, stands as it is; text stands as a string, anything else as a
/// string in base64url.
public enum JSONBatch {
    /// Reads a batch request.
    ///
    /// - Throws: ``BatchError`` with the line and what was expected.
    public static func readRequest(_ bytes: [UInt8]) throws(BatchError) -> [BatchRequestPart] {
        var parts: [BatchRequestPart] = []
        var ids: Set<String> = []
        var groups: Set<String> = []
        try read(bytes, "requests") { (scanner) throws(BatchError) in
            let start = scanner.offset
            let item = try json(bytes) { () throws(JSONError) in try Item(&scanner) }
            func fail(_ reason: BatchError.Reason, _ expected: String) -> BatchError {
                MultipartScanner.error(reason, at: start, in: bytes, expected: expected)
            }
            guard let id = item.id, let method = item.method, let url = item.url else {
                throw fail(.malformedStartLine(item.url ?? ""), "the members id, method and url")
            }
            guard !ids.contains(id), !groups.contains(id) else { throw fail(.duplicateID(id), "each id once") }
            for other in item.dependsOn where !ids.contains(other) && !groups.contains(other) {
                throw fail(.unknownDependency(other), "the id of an earlier request or group")
            }
            if let group = item.group, group != parts.last?.atomicityGroup, !groups.insert(group).inserted {
                throw fail(.scatteredGroup(group), "the requests of a group side by side")
            }
            ids.insert(id)
            parts.append(
                BatchRequestPart(
                    id: id, method: method.uppercased(), url: url, headers: item.headers, body: try item.bytes(fail),
                    atomicityGroup: item.group, dependsOn: item.dependsOn))
            return parts.count
        }
        return parts
    }

    /// Reads a batch response.
    ///
    /// - Throws: ``BatchError`` with the line and what was expected.
    public static func readResponse(_ bytes: [UInt8]) throws(BatchError) -> [BatchResponsePart] {
        var parts: [BatchResponsePart] = []
        try read(bytes, "responses") { (scanner) throws(BatchError) in
            let start = scanner.offset
            let item = try json(bytes) { () throws(JSONError) in try Item(&scanner) }
            func fail(_ reason: BatchError.Reason, _ expected: String) -> BatchError {
                MultipartScanner.error(reason, at: start, in: bytes, expected: expected)
            }
            guard let status = item.status, (100...999).contains(status) else {
                throw fail(.malformedStartLine(item.status.map(String.init) ?? ""), "a status of three digits")
            }
            parts.append(
                BatchResponsePart(
                    id: item.id, status: status, headers: item.headers, body: try item.bytes(fail),
                    atomicityGroup: item.group))
            return parts.count
        }
        return parts
    }

    /// Writes a batch request. Requests without an id get their position as one, since JSON demands it.
    public static func writeRequest(_ parts: [BatchRequestPart]) -> [UInt8] {
        let taken = Set(parts.compactMap(\.id))
        var next = 0
        return write("requests", parts) { part, writer in
            writer.key("id")
            writer.string(part.id ?? freshID(&next, taken))
            if let group = part.atomicityGroup {
                writer.key("atomicityGroup")
                writer.string(group)
            }
            if !part.dependsOn.isEmpty {
                writer.key("dependsOn")
                writer.beginArray()
                for id in part.dependsOn { writer.string(id) }
                writer.endArray()
            }
            writer.key("method")
            writer.string(part.method.lowercased())
            writer.key("url")
            writer.string(part.url)
            write(part.headers, part.body, to: &writer)
        }
    }

    /// Writes a batch response.
    public static func writeResponse(_ parts: [BatchResponsePart]) -> [UInt8] {
        write("responses", parts) { part, writer in
            if let id = part.id {
                writer.key("id")
                writer.string(id)
            }
            if let group = part.atomicityGroup {
                writer.key("atomicityGroup")
                writer.string(group)
            }
            writer.key("status")
            writer.integer(Int64(part.status))
            write(part.headers, part.body, to: &writer)
        }
    }

    // MARK: Reading

    /// The members of a request or response; each has some of them.
    private struct Item {
        var id: String?
        var method: String?
        var url: String?
        var status: Int?
        var headers: [BatchHeader] = []
        var group: String?
        var dependsOn: [String] = []
        /// The body's JSON as it stands.
        var raw: [UInt8] = []
        /// The body where it is a string.
        var text: String?

        init(_ scanner: inout JSONScanner) throws(JSONError) {
            var members = JSONMemberSet()
            try scanner.beginObject()
            while let key = try scanner.nextKey() {
                try members.insert(key, in: scanner)
                switch key.string {
                case "id": id = try scanner.takeNull() ? nil : try scanner.readString()
                case "method": method = try scanner.readString()
                case "url": url = try scanner.readString()
                case "status": status = Int(truncatingIfNeeded: try scanner.readInt64())
                case "atomicityGroup": group = try scanner.takeNull() ? nil : try scanner.readString()
                case "dependsOn":
                    try scanner.beginArray()
                    while try scanner.nextElement() { dependsOn.append(try scanner.readString()) }
                case "headers":
                    if try scanner.takeNull() { continue }
                    try scanner.beginObject()
                    while let name = try scanner.nextKey() {
                        headers.append(BatchHeader(name.string, try scanner.readString()))
                    }
                case "body":
                    var copy = scanner
                    if try scanner.peekKind() == .string { text = try copy.readString() }
                    let range = try scanner.skipValue()
                    raw = scanner.rawBytes(range)
                default: try scanner.skipValue()
                }
            }
        }

        /// The body's bytes by its media type.
        func bytes(_ fail: (BatchError.Reason, String) -> BatchError) throws(BatchError) -> [UInt8] {
            switch JSONBatch.form(headers) {
            case .json: return raw
            case .text: return text.map { Array($0.utf8) } ?? raw
            case .binary:
                guard let text else { return raw }
                guard case .binary(let bytes)? = try? ODataValue(lexical: text, type: .binary) else {
                    throw fail(.malformedStartLine(String(text.prefix(40))), "a body in base64url")
                }
                return bytes
            }
        }
    }

    private static func read(
        _ bytes: [UInt8], _ name: StaticString, _ body: (inout JSONScanner) throws(BatchError) -> Int
    ) throws(BatchError) {
        try JSONScanner.scan(bytes) { (scanner) throws(BatchError) in
            var isFound = false
            try json(bytes) { () throws(JSONError) in try scanner.beginObject() }
            while let key = try json(bytes, { () throws(JSONError) in try scanner.nextKey() }) {
                guard key == name, !isFound else {
                    try json(bytes) { () throws(JSONError) in _ = try scanner.skipValue() }
                    continue
                }
                isFound = true
                try json(bytes) { () throws(JSONError) in try scanner.beginArray() }
                while try json(bytes, { () throws(JSONError) in try scanner.nextElement() }) {
                    let offset = scanner.offset
                    if try body(&scanner) > BatchLimits.maxParts {
                        throw MultipartScanner.error(
                            .tooManyParts, at: offset, in: bytes, expected: "at most \(BatchLimits.maxParts) parts")
                    }
                }
            }
            try json(bytes) { () throws(JSONError) in try scanner.expectEnd() }
            guard isFound else {
                throw MultipartScanner.error(
                    .noPart(boundary: "\(name)"), at: 0, in: bytes, expected: "the member \(name)")
            }
        }
    }

    private static func json<Result>(
        _ bytes: [UInt8], _ body: () throws(JSONError) -> Result
    ) throws(BatchError) -> Result {
        do throws(JSONError) {
            return try body()
        } catch {
            throw BatchError(
                reason: .json(error), offset: error.position.offset, line: error.position.line,
                expected: error.expected)
        }
    }

    // MARK: Writing

    private static func write<Part>(
        _ name: String, _ parts: [Part], _ body: (Part, inout JSONWriter) -> Void
    ) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key(name)
        writer.beginArray()
        for part in parts {
            writer.beginObject()
            body(part, &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    private static func freshID(_ next: inout Int, _ taken: Set<String>) -> String {
        repeat { next += 1 } while taken.contains(String(next))
        return String(next)
    }

    private static func write(_ headers: [BatchHeader], _ body: [UInt8], to writer: inout JSONWriter) {
        if !headers.isEmpty {
            writer.key("headers")
            writer.beginObject()
            for header in headers {
                writer.key(header.name.lowercased())
                writer.string(header.value)
            }
            writer.endObject()
        }
        guard !body.isEmpty else { return }
        writer.key("body")
        switch form(headers) {
        case .json where isJSON(body): writer.raw(body)
        case .text, .json: writer.string(String(decoding: body, as: UTF8.self))
        case .binary: writer.string(ODataValue.binary(body).lexicalText ?? "")
        }
    }

    private enum BodyForm { case json, text, binary }

    private static func form(_ headers: [BatchHeader]) -> BodyForm {
        guard let type = headers.value(of: "Content-Type")?.lowercased() else { return .json }
        let media = type.prefix { $0 != ";" && $0 != " " }
        if media == "application/json" || media.hasSuffix("+json") { return .json }
        return media.hasPrefix("text/") ? .text : .binary
    }

    /// Whether bytes may be put into JSON as they are: what is not would break the whole batch.
    private static func isJSON(_ bytes: [UInt8]) -> Bool {
        let checked: Void? = try? JSONScanner.scan(bytes) { (scanner) throws(JSONError) in
            try scanner.skipValue()
            try scanner.expectEnd()
        }
        return checked != nil
    }
}
