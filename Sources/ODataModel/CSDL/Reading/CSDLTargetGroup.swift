/// The annotations that target an element or what is within it, from outside.
final class CSDLTargetGroup {
    struct Entry {
        var annotations: [Annotation]
        var isTaken = false
    }

    let root: String
    private(set) var entries: [Entry] = []
    /// For each entry, the rest of the path after the element.
    private(set) var rests: [CSDLTargetPaths.Number] = []
    /// The entries by the rest of the path, once there are many.
    private var positions: [CSDLTargetPaths.Number: Int] = [:]
    /// Up to here, looking at all numbers is faster than hashing one.
    private static let listLimit = 64

    init(root: String) { self.root = root }

    /// What the group of an element is found by: most elements have their qualified names at hand.
    static func key(_ root: String) -> QualifiedName {
        guard !root.utf8.contains(UInt8(ascii: "(")), let name = QualifiedName(root) else {
            return QualifiedName("", root)
        }
        return name
    }

    /// Those on the element itself or on a child; all overloads of an operation may take the same ones.
    func take(_ rest: CSDLTargetPaths.Number?) -> [Annotation]? {
        guard let rest, let position = position(of: rest) else { return nil }
        entries[position].isTaken = true
        return entries[position].annotations
    }

    private func position(of rest: CSDLTargetPaths.Number) -> Int? {
        if entries.count <= Self.listLimit { return rests.firstIndex(of: rest) }
        return positions[rest]
    }

    /// Adds some to those that are there.
    ///
    /// - Returns: the entry they are in, and where in it.
    func add(_ annotations: [Annotation], _ rest: CSDLTargetPaths.Number) -> (entry: Int, added: Range<Int>) {
        if let position = position(of: rest) {
            let start = entries[position].annotations.count
            entries[position].annotations += annotations
            return (position, start..<start + annotations.count)
        }
        entries.append(Entry(annotations: annotations))
        rests.append(rest)
        if entries.count == Self.listLimit + 1 {
            for (position, rest) in rests.enumerated() { positions[rest] = position }
        } else if entries.count > Self.listLimit {
            positions[rest] = entries.count - 1
        }
        return (entries.count - 1, 0..<annotations.count)
    }
}

/// Numbers for the paths within a model element: nearly all are the names of its children, which the document has
/// as texts already.
struct CSDLTargetPaths {
    /// From 0, that of a text of the document; below -1, that of another path.
    typealias Number = Int32

    /// The element itself: no path.
    static let itself: Number = -1

    private let texts: CSDLStringPool
    private var others: [String] = []
    private var numbers: [String: Number] = [:]

    init(texts: CSDLStringPool) { self.texts = texts }

    /// The path with a number; `nil` for the element itself.
    subscript(number: Number) -> String? {
        number == Self.itself ? nil : number >= 0 ? texts[number] : others[Int(-2 - number)]
    }

    /// The number of a path; `nil` where no target has it.
    func number(_ path: String) -> Number? { texts.number(path) ?? numbers[path] }

    /// The number of a path, the same each time.
    mutating func assign(_ path: String) -> Number {
        if let number = number(path) { return number }
        let number = Number(-2 - others.count)
        others.append(path)
        numbers[path] = number
        return number
    }
}
