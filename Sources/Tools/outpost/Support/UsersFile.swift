import Foundation
import Secrets
import ToolLanguage

/// A file of users with the scrypt digests of their passwords, one line `name:$scrypt$…` for each. Empty
/// lines and lines with `#` at the start are ignored.
struct UsersFile {
    /// One line of the file.
    private enum Line {
        case user(name: String, hash: PasswordHash)
        /// A comment or an empty line, as it stands.
        case other(String)
    }

    private var lines: [Line]

    /// The digests by the names of their users.
    var hashes: [String: PasswordHash] {
        var hashes: [String: PasswordHash] = [:]
        for case .user(let name, let hash) in lines { hashes[name] = hash }
        return hashes
    }

    /// The names in the order of the file.
    var names: [String] { lines.compactMap { if case .user(let name, _) = $0 { name } else { nil } } }

    /// The file as it is written.
    private var text: String {
        lines.map { line in
            switch line {
            case .user(let name, let hash): "\(name):\(hash.text)\n"
            case .other(let text): "\(text)\n"
            }
        }.joined()
    }

    /// The longest name of a user, in bytes.
    static let maxNameLength = 255

    // MARK: Reading

    /// Reads a file.
    ///
    /// - Throws: ``Failure`` if others can read or change the file, or with the number of a wrong line. No
    ///   message contains a part of a password.
    init(path: String) throws {
        let bytes = try NamedFile.secret(of: path)
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(message: "\(path) cannot be read as text.", status: .misused)
        }
        try self.init(text, path: path)
    }

    private init(_ text: String, path: String) throws {
        lines = []
        var known: Set<String> = []
        var texts = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        if texts.last?.isEmpty ?? false { texts.removeLast() }
        for (index, text) in texts.enumerated() {
            guard !text.utf8.isEmpty, text.utf8.first != UInt8(ascii: "#") else {
                lines.append(.other(String(text)))
                continue
            }
            let place = translated("\(path), line \(index + 1)")
            guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")), colon != text.startIndex else {
                throw Failure(
                    message: "\(place): a name, a colon and a scrypt digest are expected.",
                    advice: "Write the line with: outpost users add \(path.shellQuoted) NAME", status: .misused)
            }
            let name = String(text[..<colon])
            let value = String(text[text.utf8.index(after: colon)...])
            lines.append(.user(name: name, hash: try Self.hash(value, of: name, place: place, path: path)))
            guard known.insert(name).inserted else {
                throw Failure(
                    message: "\(place): \(name) has a line already.",
                    advice: "Remove one of the two.", status: .misused)
            }
        }
    }

    private static func hash(_ text: String, of name: String, place: String, path: String) throws -> PasswordHash {
        let advice: TerminalText =
            "Write the line anew with: outpost users add \(path.shellQuoted) \(name.shellQuoted)"
        let shown = name
        guard !text.isEmpty else {
            throw Failure(message: "\(place): \(shown) has no password.", advice: advice, status: .misused)
        }
        do throws(PasswordHashError) {
            return try PasswordHash(text)
        } catch .notScrypt {
            let kind: TerminalText =
                text.hasPrefix("$") || text.hasPrefix("{") ? "a digest of another kind" : "in plain text"
            throw Failure(
                message: "\(place): the password of \(shown) is \(kind), and only scrypt digests are read.",
                advice: advice, status: .misused)
        } catch {
            throw Failure(message: "\(place): \(shown): \(error).", advice: advice, status: .misused)
        }
    }

    // MARK: Changing

    /// Changes a file, or creates one that only its owner can read. Other commands wait meanwhile.
    static func change(_ path: String, _ body: (inout UsersFile) throws -> Void) throws {
        // A link is followed to its file.
        let target = realpath(path, nil).map { pointer in
            defer { free(pointer) }
            return String(cString: pointer)
        }
        let file = target ?? path
        let lock = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard lock >= 0 else {
            throw Failure(message: "\(path) cannot be written: \(Outpost.systemReason(errno)).", status: .misused)
        }
        defer { close(lock) }
        while flock(lock, LOCK_EX) != 0, errno == EINTR {}
        // After the wait the file may have been replaced by another command: the change starts again.
        var (held, there) = (stat(), stat())
        guard fstat(lock, &held) == 0, stat(file, &there) == 0, held.st_ino == there.st_ino else {
            return try change(path, body)
        }
        guard held.st_mode & S_IFMT == S_IFREG else { throw Failure(message: "\(path) is no file.", status: .misused) }
        var users = try UsersFile(path: file)
        try body(&users)
        let code = PrivateFile.replace(file, by: users.text)
        guard code == 0 else {
            throw Failure(message: "\(path) cannot be written: \(Outpost.systemReason(code)).")
        }
    }

    /// Gives a user a password, in place of the one before if there was one.
    ///
    /// - Returns: whether the user is new.
    mutating func set(_ name: String, _ hash: PasswordHash) -> Bool {
        let line = Line.user(name: name, hash: hash)
        let place = lines.firstIndex { if case .user(name, _) = $0 { true } else { false } }
        guard let place else {
            lines.append(line)
            return true
        }
        lines[place] = line
        return false
    }

    /// Removes a user.
    ///
    /// - Returns: whether there was one.
    mutating func remove(_ name: String) -> Bool {
        let count = lines.count
        lines.removeAll { if case .user(name, _) = $0 { true } else { false } }
        return lines.count < count
    }

    /// Refuses a name that basic authentication or the file cannot have.
    static func check(_ name: String) throws {
        let isPlain = name.unicodeScalars.allSatisfy {
            $0.properties.generalCategory != .control && $0 != ":" && $0 != "\u{2028}" && $0 != "\u{2029}"
        }
        guard !name.isEmpty, name.utf8.count <= maxNameLength, isPlain, name.utf8.first != UInt8(ascii: "#") else {
            throw Failure(
                message: "'\(name)' is no name of a user.",
                advice:
                    "A name has 1 to \(maxNameLength) bytes, no colon, no control character, and no # at its start.",
                status: .misused)
        }
    }
}
