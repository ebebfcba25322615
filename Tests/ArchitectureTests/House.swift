import Foundation

/// The targets as Package.swift declares them: with a floor and a group each, in a line or two.
struct House {
    /// The groups from the ground up. A target imports only targets of its own group and of those before it.
    static let groups = [
        "Ground", "Language", "Keys", "Protocol", "Transport", "Storage", "Sync", "Objects", "Databases", "Mobile",
        "Generate", "Kit", "Tools",
    ]

    /// A target of Swift.
    struct Room: Hashable {
        var name: String
        var floor: Int
        var group: String
    }

    /// An import of a target by a file of another.
    struct Import {
        var target: String
        var file: String
        var module: String
    }

    /// The targets of Swift by name.
    private(set) var rooms: [String: Room] = [:]
    /// The libraries of the system and the targets in C. They stand beneath everything, and belong to no floor.
    private(set) var foundations: Set<String> = []
    /// The names that are declared more than once.
    private var repeated: Set<String> = []

    /// Reads a manifest.
    init(manifest: String) {
        let declaration = /\b(?:library|program)\(\s*"([\w-]+)",\s*floor: (\d+),\s*group: "(\w+)"/
        for match in manifest.matches(of: declaration) {
            let room = Room(name: String(match.1), floor: Int(match.2) ?? 0, group: String(match.3))
            if rooms.updateValue(room, forKey: room.name) != nil { repeated.insert(room.name) }
        }
        for match in manifest.matches(of: /\b(?:system|clang)\(\s*"(\w+)"/) { foundations.insert(String(match.1)) }
    }

    /// The folder of a target, below `Sources`.
    func folder(of name: String) -> String? {
        if foundations.contains(name) { return "C/\(name)" }
        return rooms[name].map { "\($0.group)/\(name)" }
    }

    /// The faults of the declarations, beside the folders that are there.
    ///
    /// - Parameter folders: the folders of targets, each as `GROUP/NAME`.
    func faults(folders: [String]) -> [String] {
        var faults = repeated.sorted().map { "\($0) is declared twice" }
        let declared = Set((Array(rooms.keys) + foundations).compactMap(folder(of:)))
        for folder in Set(folders).subtracting(declared).sorted() {
            faults.append("\(folder) has no floor: declare it with library(_:floor:group:_:) in Package.swift")
        }
        for folder in declared.subtracting(folders).sorted() { faults.append("\(folder) is declared and not there") }
        for room in rooms.values.sorted(by: { $0.name < $1.name }) where !Self.groups.contains(room.group) {
            faults.append("\(room.name) is in \(room.group), which is no group")
        }
        return faults
    }

    /// The imports that lead upwards or sideways, and those into a group above.
    func faults(imports: [Import]) -> [String] {
        imports.compactMap { given in
            guard let own = rooms[given.target], let other = rooms[given.module] else { return nil }
            let place = "\(given.target)/\(given.file)"
            if other.floor >= own.floor {
                return "\(place) on floor \(own.floor) imports \(other.name) on floor \(other.floor)"
            }
            guard let from = Self.groups.firstIndex(of: own.group), let to = Self.groups.firstIndex(of: other.group),
                to > from
            else { return nil }
            return "\(place) in \(own.group) imports \(other.name) in \(other.group), a group above"
        }
    }

    /// The modules that a source file imports.
    static func modules(in source: String) -> [String] {
        source.split(separator: "\n").compactMap { line in
            let words = line.split(separator: " ")
            guard let position = words.firstIndex(of: "import"), position < 3, words.count > position + 1,
                words[..<position].allSatisfy({ $0.hasPrefix("@") || ["public", "internal", "package"].contains($0) })
            else { return nil }
            return words.last.map { String($0.prefix { $0 != "." }) }
        }
    }
}
