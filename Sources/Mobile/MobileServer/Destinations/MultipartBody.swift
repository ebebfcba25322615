import ODataHTTP
import ODataService

/// A `$batch` in `multipart/mixed`, taken apart as far as a proxy needs it (OData Protocol 4.01, 11.7.7).
struct MultipartBody: Sendable {
    /// The greatest number of requests in a batch.
    static let partLimit = 1000

    /// A field of a part; names keep their case.
    typealias Field = (name: String, value: String)

    /// A message within a part.
    struct Message: Sendable {
        /// The request line or the status line.
        var line: String
        var fields: [Field]
        var body: [UInt8]

        /// Returns the value of a field.
        func value(_ name: String) -> String? {
            fields.first { $0.name.lowercased() == name.lowercased() }?.value
        }

        /// Sets the body, and its length if one is stated.
        mutating func setBody(_ bytes: [UInt8]) {
            body = bytes
            for index in fields.indices where fields[index].name.lowercased() == "content-length" {
                fields[index].value = String(bytes.count)
            }
        }
    }

    /// The content of a part.
    enum Content: Sendable {
        case message(Message)
        /// A change set.
        case group(MultipartBody)
    }

    /// A part.
    struct Part: Sendable {
        var fields: [Field]
        var content: Content

        /// The messages of the part.
        var messages: [Message] {
            switch content {
            case .message(let message): [message]
            case .group(let group): group.parts.flatMap(\.messages)
            }
        }
    }

    var boundary: String
    var parts: [Part]

    /// The batch could not be taken apart.
    struct Malformed: Error {}

    // MARK: Reading

    /// Takes a body apart.
    ///
    /// - Throws: ``Malformed`` for a body without parts, with more than ``partLimit`` of them, or with nested groups.
    init(_ bytes: [UInt8], boundary: String) throws {
        var count = 0
        try self.init(bytes[...], boundary: boundary, mayNest: true, count: &count)
    }

    init(boundary: String, parts: [Part]) {
        self.boundary = boundary
        self.parts = parts
    }

    private init(_ bytes: ArraySlice<UInt8>, boundary: String, mayNest: Bool, count: inout Int) throws {
        self.boundary = boundary
        parts = []
        let delimiter = Array("--\(boundary)".utf8)
        guard !boundary.isEmpty, boundary.utf8.count <= 200 else { throw Malformed() }
        var start: Int?
        var index = bytes.startIndex
        while let line = Self.line(of: bytes, from: index) {
            defer { index = line.next }
            guard bytes[line.range].starts(with: delimiter) else { continue }
            let rest = bytes[line.range].dropFirst(delimiter.count)
            let isLast = rest.starts(with: "--".utf8)
            guard isLast || rest.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) else { continue }
            if let start {
                var end = line.range.lowerBound
                if end > start, bytes[end - 1] == 0x0A { end -= 1 }
                if end > start, bytes[end - 1] == 0x0D { end -= 1 }
                parts.append(try Self.part(bytes[start..<max(start, end)], mayNest: mayNest, count: &count))
            }
            start = line.next
            if isLast { return }
        }
        throw Malformed()
    }

    private static func part(_ bytes: ArraySlice<UInt8>, mayNest: Bool, count: inout Int) throws -> Part {
        count += 1
        guard count <= partLimit else { throw Malformed() }
        let (fields, rest) = try head(bytes)
        let type = fields.first { $0.name.lowercased() == "content-type" }.flatMap { MediaType($0.value) }
        if let type, type.matches("multipart", "mixed") {
            guard mayNest, let inner = type["boundary"] else { throw Malformed() }
            return Part(
                fields: fields,
                content: .group(try MultipartBody(rest, boundary: inner, mayNest: false, count: &count)))
        }
        // Blank lines may come before the message.
        let content = rest.drop { $0 == 0x0D || $0 == 0x0A }
        guard let first = line(of: content, from: content.startIndex) else { throw Malformed() }
        let (inner, body) = try head(content[first.next...])
        var message = Message(
            line: String(decoding: content[first.range], as: UTF8.self), fields: inner, body: Array(body))
        if let length = message.value("Content-Length").flatMap({ Int($0) }), length >= 0, length < message.body.count {
            message.body.removeLast(message.body.count - length)
        }
        return Part(fields: fields, content: .message(message))
    }

    /// Reads fields up to the blank line.
    private static func head(_ bytes: ArraySlice<UInt8>) throws -> ([Field], ArraySlice<UInt8>) {
        var fields: [Field] = []
        var index = bytes.startIndex
        while let line = line(of: bytes, from: index) {
            index = line.next
            if line.range.isEmpty { return (fields, bytes[index...]) }
            let text = String(decoding: bytes[line.range], as: UTF8.self)
            guard let colon = text.firstIndex(of: ":"), colon != text.startIndex, fields.count < 100 else {
                throw Malformed()
            }
            fields.append(
                (
                    String(text[..<colon]).trimmingSpace(), String(text[text.index(after: colon)...]).trimmingSpace()
                ))
        }
        return (fields, bytes[bytes.endIndex...])
    }

    private static func line(
        of bytes: ArraySlice<UInt8>, from index: Int
    ) -> (range: Range<Int>, next: Int)? {
        guard index < bytes.endIndex else { return nil }
        let end = bytes[index...].firstIndex(of: 0x0A) ?? bytes.endIndex
        let bare = end > index && bytes[end - 1] == 0x0D ? end - 1 : end
        return (index..<bare, end < bytes.endIndex ? end + 1 : end)
    }

    // MARK: Writing

    /// The bytes of the body.
    var bytes: [UInt8] {
        var out: [UInt8] = []
        write(to: &out)
        return out
    }

    private func write(to out: inout [UInt8]) {
        for part in parts {
            out += Array("--\(boundary)\r\n".utf8)
            Self.write(part.fields, to: &out)
            switch part.content {
            case .group(let group): group.write(to: &out)
            case .message(let message):
                out += Array("\(message.line)\r\n".utf8)
                Self.write(message.fields, to: &out)
                out += message.body
                out += Array("\r\n".utf8)
            }
        }
        out += Array("--\(boundary)--\r\n".utf8)
    }

    private static func write(_ fields: [Field], to out: inout [UInt8]) {
        for field in fields { out += Array("\(field.name): \(field.value)\r\n".utf8) }
        out += Array("\r\n".utf8)
    }

    /// Changes every message.
    mutating func mapMessages(_ change: (inout Message) throws -> Void) rethrows {
        for index in parts.indices {
            switch parts[index].content {
            case .message(var message):
                try change(&message)
                parts[index].content = .message(message)
            case .group(var group):
                try group.mapMessages(change)
                parts[index].content = .group(group)
            }
            // The length of a part changes with its content.
            parts[index].fields.removeAll { $0.name.lowercased() == "content-length" }
        }
    }
}

extension String {
    /// The text without spaces and tabs at both ends.
    func trimmingSpace() -> String {
        let front = drop { $0 == " " || $0 == "\t" }
        return String(front.reversed().drop { $0 == " " || $0 == "\t" || $0 == "\r" }.reversed())
    }
}
