import ODataModel

/// The result of a merge of the three versions of an entity.
public enum ConflictMerge: Hashable, Sendable {
    /// Both sides came to the same version: nothing is left to send.
    case agreed
    /// These properties are sent on top of the server version. A deletion, a stream and a call have none.
    case merged(ODataEntity)
    /// Both sides changed the same properties to different values: paths such as `Address/City`, in declared
    /// order. The list is empty if one side deleted an entity that the other one changed.
    case conflict([String])
}

/// Merges the base, local and server version of one entity, property by property.
///
/// A property conflicts if all three versions of it differ. Complex values are merged by path; a collection is
/// one value, and so is a relation with a foreign key of several properties. A property that is not loaded in a
/// version is not compared.
struct VersionMerge {
    /// The version that the change was made of, as far as it is known.
    let base: ODataEntity?
    /// The changed properties; `nil` for a deletion.
    let mine: ODataEntity?
    /// The server version; `nil` if the service deleted the entity.
    let theirs: ODataEntity?

    /// The result of the merge.
    var result: ConflictMerge {
        switch (mine, theirs) {
        case (nil, nil): return .agreed
        case (_?, nil): return .conflict([])
        case (nil, let theirs?):
            return isOfKnownValues ? .merged(ODataEntity(shape: theirs.shape)) : .conflict([])
        case (let mine?, let theirs?):
            var parts = Parts(shape: mine.shape)
            parts.add(mine, base: base ?? ODataEntity(shape: mine.shape), theirs: theirs)
            parts.addRelations(mine, base: base ?? ODataEntity(shape: mine.shape), theirs: theirs)
            guard parts.conflicts.isEmpty else { return .conflict(parts.conflicts) }
            return parts.changes.loadedProperties.isEmpty ? .agreed : .merged(parts.changes)
        }
    }

    /// Whether the service has only values that are known here, and its version merely has another ETag: each
    /// property is as it was when the change was made, or as the change makes it.
    var isOfKnownValues: Bool {
        guard let theirs else { return mine == nil }
        guard let base else { return false }
        let mine = mine ?? ODataEntity(shape: base.shape)
        var names = base.loadedProperties.union(mine.loadedProperties)
        // An entity that is loaded as a whole says which dynamic properties it has.
        if !base.values.contains(where: { $0 == nil }) { names.formUnion(theirs.dynamicProperties.keys) }
        return names.allSatisfy { name in
            guard let there = theirs.version(of: name) else { return true }
            return [base.version(of: name), mine[name]].contains { version in
                version.map { there.isSame(as: $0, in: name, of: base.shape) } ?? false
            }
        }
    }

    /// The result of a merge of a value that is never taken apart: a stream, or the end of a relation.
    ///
    /// - Parameters:
    ///   - isMine: whether the server version is the local version.
    ///   - isBase: whether the server version is the base version; `false` if the base version is not known.
    ///   - name: the name of the value.
    ///   - shape: the type of its entity.
    static func whole(isMine: Bool, isBase: Bool, name: String, shape: TypeShape) -> ConflictMerge {
        isMine ? .agreed : isBase ? .merged(ODataEntity(shape: shape)) : .conflict([name])
    }

    /// The changes and conflicts of an entity or complex value.
    private struct Parts {
        var changes: ODataEntity
        var conflicts: [String] = []

        init(shape: TypeShape) { changes = ODataEntity(shape: shape) }

        mutating func add(_ mine: ODataEntity, base: ODataEntity, theirs: ODataEntity, at path: String = "") {
            let declared = mine.shape.properties.map(\.name).filter { mine[$0] != nil }
            for name in declared + mine.dynamicProperties.keys.sorted() {
                guard let here = mine[name] else { continue }
                guard let there = theirs.version(of: name) else {
                    changes[name] = here
                    continue
                }
                if there.isSame(as: here, in: name, of: mine.shape) { continue }
                guard let before = base.version(of: name), !there.isSame(as: before, in: name, of: mine.shape) else {
                    changes[name] = here
                    continue
                }
                if here.isSame(as: before, in: name, of: mine.shape) { continue }
                guard case .complex(let ours) = here, case .complex(let old) = before, case .complex(let other) = there,
                    ours.shape.name == old.shape.name, ours.shape.name == other.shape.name
                else {
                    conflicts.append(path + name)
                    continue
                }
                var parts = Parts(shape: ours.shape)
                parts.add(ours, base: old, theirs: other, at: "\(path)\(name)/")
                conflicts += parts.conflicts
                if !parts.changes.loadedProperties.isEmpty {
                    changes[name] = .complex(other.overlaid(by: parts.changes))
                }
            }
        }

        /// Adds a conflict for each relation by several properties that both sides have led elsewhere.
        mutating func addRelations(_ mine: ODataEntity, base: ODataEntity, theirs: ODataEntity) {
            for relation in mine.shape.navigationProperties where relation.constraints.count > 1 {
                let names = relation.constraints.map(\.property)
                guard names.contains(where: { mine[$0] != nil }), Set(names).isDisjoint(with: conflicts) else {
                    continue
                }
                let known = names.filter { base[$0] != nil && theirs[$0] != nil }
                func differ(_ first: (String) -> ODataValue?, _ second: (String) -> ODataValue?) -> Bool {
                    known.contains { name in
                        guard let one = first(name), let other = second(name) else { return false }
                        return !one.isSame(as: other)
                    }
                }
                let here = { (name: String) in mine[name] ?? base[name] }
                if differ(here, { base[$0] }), differ({ theirs[$0] }, { base[$0] }), differ(here, { theirs[$0] }) {
                    conflicts.append(relation.name)
                }
            }
        }
    }
}

extension ODataEntity {
    /// The value of a property in a version of an entity; `nil` if it is not loaded. A dynamic property that is
    /// not there is null.
    fileprivate func version(of name: String) -> ODataValue? {
        self[name] ?? (shape.ordinal(of: name) == nil && shape.isOpen ? .null : nil)
    }
}

extension ODataValue {
    /// Whether two versions of a property are the same value. Complex values of different types never are.
    fileprivate func isSame(as other: ODataValue, in name: String, of shape: TypeShape) -> Bool {
        if case .complex(let own) = self, case .complex(let another) = other, own.shape.name != another.shape.name {
            return false
        }
        if isSame(as: other) { return true }
        // The type of a dynamic property may not be told, and the same value come as another one.
        return shape.ordinal(of: name) == nil && lexicalText.map { $0 == other.lexicalText } ?? false
    }
}
