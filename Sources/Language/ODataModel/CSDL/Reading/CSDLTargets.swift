/// The annotations with external targeting, by target (OData CSDL 4.01, 14.2.1). The first segment of a path
/// selects a group, and the rest of the path selects an entry in the group.
///
/// Groups and entries are indices into flat arrays. A document of one megabyte has thousands of targets, and each
/// of its elements looks for its own.
struct CSDLTargets {
    /// The number of a group.
    typealias Group = Int
    /// The rest of a path after its first segment: from 0, a text of the document; below -1, an additional path.
    typealias Rest = Int32

    /// The annotations on one target.
    struct Entry {
        let rest: Rest
        var annotations: [Annotation]
        /// Whether an element has adopted the annotations.
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

    /// The value for a path with a single segment, which has no rest.
    static let itself: Rest = -1
    /// The largest group for which a linear search is faster than hashing.
    private static let listLimit = 64

    private(set) var entries: [Entry] = []
    private var heads: [Head] = []
    private var groups: [QualifiedName: Group] = [:]
    /// The entries of large groups by group and rest.
    private var positions: [UInt64: Int] = [:]
    /// The rests that are not texts of the document.
    private var otherRests: [String] = []
    private var otherNumbers: [String: Rest] = [:]

    var isEmpty: Bool { heads.isEmpty }

    mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }

    // MARK: Groups

    /// Returns the group of paths that start with `root`, and creates it if necessary.
    mutating func makeGroup(_ root: String) -> Group {
        let key = Self.key(root)
        if let group = groups[key] { return group }
        heads.append(Head(root: root))
        groups[key] = heads.count - 1
        return heads.count - 1
    }

    /// Returns the group of an element.
    func group(_ name: QualifiedName) -> Group? { heads.isEmpty ? nil : groups[name] }

    /// Returns the group of a root that is not a qualified name: a schema, or an overload of an operation.
    func group(root: String) -> Group? { heads.isEmpty ? nil : groups[Self.key(root)] }

    /// Returns the first segment of a group's paths.
    func root(_ group: Group) -> String { heads[group].root }

    /// Returns the key of a group; a qualified name is used directly because most elements have one.
    private static func key(_ root: String) -> QualifiedName {
        guard !root.utf8.contains(UInt8(ascii: "(")), let name = QualifiedName(root) else {
            return QualifiedName("", root)
        }
        return name
    }

    // MARK: Rests

    /// Returns the number of a path that is not a text of the document; equal paths have the same number.
    mutating func makeRest(_ path: String) -> Rest {
        if let number = otherNumbers[path] { return number }
        let number = Rest(-2 - otherRests.count)
        otherRests.append(path)
        otherNumbers[path] = number
        return number
    }

    /// Returns the number of a path; `nil` if no target has the path.
    func rest(_ path: String, texts: CSDLStringPool) -> Rest? { texts.number(path) ?? otherNumbers[path] }

    /// Returns the path with a number; `nil` for the element itself.
    func path(_ rest: Rest, texts: CSDLStringPool) -> String? {
        rest == Self.itself ? nil : rest >= 0 ? texts[rest] : otherRests[Int(-2 - rest)]
    }

    // MARK: Entries

    /// Removes and returns the annotations on an element, or on the element to which the rest leads.
    mutating func take(_ rest: Rest, of group: Group) -> [Annotation]? {
        guard let entry = entry(rest, of: group) else { return nil }
        entries[entry].isTaken = true
        var annotations: [Annotation] = []
        swap(&annotations, &entries[entry].annotations)
        return annotations
    }

    /// Returns annotations without removing them, because all overloads of an operation share them.
    mutating func share(_ rest: Rest, of group: Group) -> [Annotation] {
        guard let entry = entry(rest, of: group) else { return [] }
        entries[entry].isTaken = true
        return entries[entry].annotations
    }

    /// Adds annotations to a target.
    ///
    /// - Returns: the entry, and the range of the added annotations in it.
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
