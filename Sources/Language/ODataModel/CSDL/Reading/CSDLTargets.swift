/// The annotations with external targeting by the element they target (OData CSDL 4.01, 14.2.1): a group for the
/// element that a path starts from, an entry in it for each rest of a path.
///
/// Groups and entries are numbers into flat arrays: a document of a megabyte has thousands of targets, and each of
/// its elements asks for its own.
struct CSDLTargets {
    /// The number of a group.
    typealias Group = Int
    /// The rest of a path after its first segment: from 0, a text of the document; below -1, another path.
    typealias Rest = Int32

    /// The annotations on one target.
    struct Entry {
        let rest: Rest
        var annotations: [Annotation]
        /// Whether an element has taken them in.
        var isTaken = false
        /// The next entry of the same group; -1 for none.
        fileprivate var next: Int32 = -1
    }

    private struct Head {
        /// The first segment with its alias replaced.
        let root: String
        var first: Int32 = -1
        var last: Int32 = -1
        var count: Int32 = 0
    }

    /// The rest of a path that has one segment: no rest.
    static let itself: Rest = -1
    /// Up to here, looking at all entries of a group is faster than hashing.
    private static let listLimit = 64

    private(set) var entries: [Entry] = []
    private var heads: [Head] = []
    private var groups: [QualifiedName: Group] = [:]
    /// The entries of large groups by group and rest.
    private var positions: [UInt64: Int] = [:]
    /// Rests that are no texts of the document.
    private var otherRests: [String] = []
    private var otherNumbers: [String: Rest] = [:]

    var isEmpty: Bool { heads.isEmpty }

    mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

    // MARK: Groups

    /// The group of the elements that a path which starts with `root` leads to; a new one where there is none yet.
    mutating func makeGroup(_ root: String) -> Group {
        let key = Self.key(root)
        if let group = groups[key] { return group }
        heads.append(Head(root: root))
        groups[key] = heads.count - 1
        return heads.count - 1
    }

    /// The group of an element.
    func group(_ name: QualifiedName) -> Group? { heads.isEmpty ? nil : groups[name] }

    /// The group of what is no qualified name: a schema, or one of the overloads of an operation.
    func group(root: String) -> Group? { heads.isEmpty ? nil : groups[Self.key(root)] }

    /// The first segment of a group's paths.
    func root(_ group: Group) -> String { heads[group].root }

    /// Most elements have their qualified names at hand.
    private static func key(_ root: String) -> QualifiedName {
        guard !root.utf8.contains(UInt8(ascii: "(")), let name = QualifiedName(root) else {
            return QualifiedName("", root)
        }
        return name
    }

    // MARK: Rests

    /// The number of a path that is no text of the document, the same each time.
    mutating func makeRest(_ path: String) -> Rest {
        if let number = otherNumbers[path] { return number }
        let number = Rest(-2 - otherRests.count)
        otherRests.append(path)
        otherNumbers[path] = number
        return number
    }

    /// The number of a path; `nil` where no target has it.
    func rest(_ path: String, texts: CSDLStringPool) -> Rest? { texts.number(path) ?? otherNumbers[path] }

    /// The path with a number; `nil` for the element itself.
    func path(_ rest: Rest, texts: CSDLStringPool) -> String? {
        rest == Self.itself ? nil : rest >= 0 ? texts[rest] : otherRests[Int(-2 - rest)]
    }

    // MARK: Entries

    /// Takes away the annotations on an element, or on what the rest leads to within it.
    mutating func take(_ rest: Rest, of group: Group) -> [Annotation]? {
        guard let entry = entry(rest, of: group) else { return nil }
        entries[entry].isTaken = true
        var annotations: [Annotation] = []
        swap(&annotations, &entries[entry].annotations)
        return annotations
    }

    /// The same annotations for all who ask: the overloads of an operation share theirs.
    mutating func share(_ rest: Rest, of group: Group) -> [Annotation] {
        guard let entry = entry(rest, of: group) else { return [] }
        entries[entry].isTaken = true
        return entries[entry].annotations
    }

    /// Adds annotations to those that are there.
    ///
    /// - Returns: the entry they are in, and where in it.
    mutating func add(_ annotations: [Annotation], to rest: Rest, of group: Group) -> (entry: Int, added: Range<Int>) {
        if let entry = entry(rest, of: group) {
            let start = entries[entry].annotations.count
            entries[entry].annotations += annotations
            return (entry, start..<start + annotations.count)
        }
        let entry = Int32(entries.count)
        entries.append(Entry(rest: rest, annotations: annotations))
        let last = heads[group].last
        if last < 0 { heads[group].first = entry } else { entries[Int(last)].next = entry }
        heads[group].last = entry
        heads[group].count += 1
        if heads[group].count == Self.listLimit + 1 {
            var next = heads[group].first
            while next >= 0 {
                positions[Self.position(entries[Int(next)].rest, group)] = Int(next)
                next = entries[Int(next)].next
            }
        } else if heads[group].count > Self.listLimit {
            positions[Self.position(rest, group)] = Int(entry)
        }
        return (Int(entry), 0..<annotations.count)
    }

    private func entry(_ rest: Rest, of group: Group) -> Int? {
        guard heads[group].count <= Self.listLimit else { return positions[Self.position(rest, group)] }
        var next = heads[group].first
        while next >= 0 {
            if entries[Int(next)].rest == rest { return Int(next) }
            next = entries[Int(next)].next
        }
        return nil
    }

    private static func position(_ rest: Rest, _ group: Group) -> UInt64 {
        UInt64(group) << 32 | UInt64(UInt32(bitPattern: rest))
    }
}
