import HTTPTypes
import ODataHTTP
import ODataService

/// Replaces the status of a back end's refusals by logical ones, and codes that only this server may say
/// (`mobile-server.md` 6.3, `design-review.md` 10).
struct ErrorMapping: Sendable {
    /// The greatest size of an error body that is examined, in bytes. The rest passes as it is.
    static let bodyLimit = 65_536

    /// Logical status by the code of the back end, or by its status as text.
    let codes: [String: Int]

    /// Returns the response with its logical status and without reserved codes.
    func apply(_ response: HTTPResponse, _ body: ByteStream) async throws -> (HTTPResponse, ByteStream) {
        guard response.status.code >= 400 else { return (response, body) }
        let (start, whole) = try await body.beginning(Self.bodyLimit)
        guard start.count < Self.bodyLimit else {
            var response = response
            response.status = .init(code: status(for: nil, response.status.code))
            return (response, whole)
        }
        let (status, bytes) = apply(to: start, status: response.status.code)
        var changed = response
        changed.status = .init(code: status)
        return (changed, ByteStream(bytes))
    }

    /// Returns the logical status and the body of a refusal.
    func apply(to body: [UInt8], status: Int) -> (Int, [UInt8]) {
        let code = Self.code(in: body)
        var bytes = body
        // An escaped character could hide a reserved code. No plain code needs one.
        let isHidden = code?.text.contains(where: { "\\&".contains($0) }) ?? false
        if let code, isHidden || DestinationFailure.reservedCodes.contains(code.text) {
            bytes.replaceSubrange(code.range, with: Array(DestinationFailure.replacement.utf8))
        }
        return (self.status(for: code?.text, status), bytes)
    }

    private func status(for code: String?, _ status: Int) -> Int {
        let mapped = code.flatMap { codes[$0] } ?? codes[String(status)]
        return mapped.map { (400...599).contains($0) ? $0 : 500 } ?? status
    }

    /// Returns the code of an error body in JSON or XML and its place.
    static func code(in body: [UInt8]) -> (text: String, range: Range<Int>)? {
        guard let first = body.first(where: { $0 > 0x20 && $0 != 0xEF && $0 != 0xBB && $0 != 0xBF }) else { return nil }
        if first == UInt8(ascii: "<") { return element(in: body) }
        return member(in: body)
    }

    /// Returns the text of the first element `code`.
    private static func element(in body: [UInt8]) -> (text: String, range: Range<Int>)? {
        var index = 0
        while let open = body[index...].firstIndex(of: UInt8(ascii: "<")) {
            guard let close = body[open...].firstIndex(of: UInt8(ascii: ">")) else { return nil }
            let name = String(decoding: body[(open + 1)..<close].prefix { $0 != 0x20 }, as: UTF8.self)
            if name == "code" || name.hasSuffix(":code"), !name.hasPrefix("/") {
                let end = body[close...].firstIndex(of: UInt8(ascii: "<")) ?? body.endIndex
                let range = (close + 1)..<end
                return (String(decoding: body[range], as: UTF8.self).trimmingSpace(), range)
            }
            index = close + 1
        }
        return nil
    }

    /// Returns the value of the member `code` of the object `error`.
    private static func member(in body: [UInt8]) -> (text: String, range: Range<Int>)? {
        var (names, isName, index): ([String], [Bool], Int) = ([], [], 0)
        while index < body.count {
            switch body[index] {
            case UInt8(ascii: "{"):
                guard names.count < 64 else { return nil }
                names.append("")
                isName.append(true)
            case UInt8(ascii: "["):
                guard names.count < 64 else { return nil }
                names.append("")
                isName.append(false)
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                _ = (names.popLast(), isName.popLast())
            case UInt8(ascii: ":"): if let last = isName.indices.last { isName[last] = false }
            case UInt8(ascii: ","):
                if let last = isName.indices.last { isName[last] = !names[last].isEmpty }
            case UInt8(ascii: "\""):
                var end = index + 1
                while end < body.count, body[end] != UInt8(ascii: "\"") {
                    end += body[end] == UInt8(ascii: "\\") ? 2 : 1
                }
                guard end < body.count else { return nil }
                let range = (index + 1)..<end
                let text = String(decoding: body[range], as: UTF8.self)
                if isName.last == true, let last = names.indices.last {
                    names[last] = text
                } else if names.count == 2, names[1] == "code", names[0] == "error" || names[0] == "odata.error" {
                    return (text, range)
                }
                index = end
            default: break
            }
            index += 1
        }
        return nil
    }
}

extension ByteStream {
    /// Returns up to a number of bytes from the start, and a stream of the whole content.
    func beginning(_ limit: Int) async throws -> (bytes: [UInt8], whole: ByteStream) {
        var bytes: [UInt8] = []
        while bytes.count < limit, let chunk = try await next() { bytes += chunk }
        let start = ByteStream(bytes)
        let whole = ByteStream(length: length) {
            if let chunk = try await start.next() { return chunk }
            return try await self.next()
        }
        return (Array(bytes.prefix(limit)), whole)
    }
}
