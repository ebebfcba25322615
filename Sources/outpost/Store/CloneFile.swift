import Foundation

/// What a clone says of itself in the clear: where its key is, and nothing else.
struct CloneFile: Codable {
    /// Where the key is.
    enum Key: Codable, Equatable {
        /// In the vault, under this name.
        case vault(name: String)
        /// In a person's head.
        case passphrase
        /// In a file that is named on each command.
        case file
    }

    var key: Key

    private static func path(in directory: String) -> String { directory + "/outpost.json" }

    static func read(in directory: String) throws -> CloneFile {
        guard let data = FileManager.default.contents(atPath: path(in: directory)) else {
            throw Failure(
                message: "\(directory) is not a clone.", advice: "Make one with: outpost clone URL \(directory)")
        }
        guard let file = try? JSONDecoder().decode(CloneFile.self, from: data) else {
            throw Failure(
                message: "\(path(in: directory)) is damaged: it must say where the store's key is.",
                advice: "If you have the key in a file, name it: --key-file FILE")
        }
        return file
    }

    func write(in directory: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        try encoder.encode(self).write(to: URL(fileURLWithPath: Self.path(in: directory)), options: .atomic)
    }

    static func remove(in directory: String) { try? FileManager.default.removeItem(atPath: path(in: directory)) }
}
