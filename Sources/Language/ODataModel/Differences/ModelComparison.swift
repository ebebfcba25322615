/// Compares two versions of a model. This file compares the elements of schemas; the extensions compare the content
/// of types and containers.
struct ModelComparison {
    let old: EntityDataModel
    let new: EntityDataModel
    private(set) var differences: [ModelDifference] = []

    init(old: EntityDataModel, new: EntityDataModel) {
        self.old = old
        self.new = new
    }

    mutating func compare() {
        if old.version != new.version {
            // 4.0 and 4.01 have the same model.
            let isCompatible = (old.version < .v4) == (new.version < .v4)
            add(
                "", .changed, detail: "OData \(new.version.rawValue) instead of \(old.version.rawValue)",
                isCompatible: isCompatible,
                reason: isCompatible
                    ? "the same protocol in another edition" : "requests and payloads have another form")
        }
        matchAll(
            old.schemas.flatMap(\.structuredTypes), new.schemas.flatMap(\.structuredTypes), key: \.name.description
        ) {
            $0.compare($1, $2)
        } added: {
            ("\($0.kind == .entity ? "entity" : "complex") type", nil)
        }
        matchAll(old.schemas.flatMap(\.enumTypes), new.schemas.flatMap(\.enumTypes), key: \.name.description) {
            $0.compare($1, $2)
        } added: { _ in
            ("enumeration type", nil)
        }
        matchAll(
            old.schemas.flatMap(\.typeDefinitions), new.schemas.flatMap(\.typeDefinitions), key: \.name.description
        ) {
            $0.compare($1, $2)
        } added: { _ in
            ("type definition", nil)
        }
        compareOperations()
        matchAll(old.schemas.flatMap(\.terms), new.schemas.flatMap(\.terms), key: \.name.description) {
            comparison, old, new in
            let path = old.name.description
            comparison.compareType(path, "term", old: old.type, new: new.type)
            comparison.compareAnnotations(path, old: old.annotations, new: new.annotations)
        } added: { _ in
            ("term", nil)
        }
        compareContainers()
    }

    // MARK: What the extensions use

    mutating func add(
        _ path: String, _ kind: ModelDifference.Kind, detail: String, isCompatible: Bool, reason: String
    ) {
        differences.append(
            ModelDifference(path: path, kind: kind, detail: detail, isCompatible: isCompatible, reason: reason))
    }

    /// Pairs elements by a key. A removed element is incompatible, because clients may use it.
    ///
    /// - Parameters:
    ///   - added: a function that returns the kind of an added element, and the reason if the addition is
    ///     incompatible.
    mutating func matchAll<Element>(
        _ old: [Element], _ new: [Element], path: String = "", key: (Element) -> String,
        compare: (inout ModelComparison, Element, Element) -> Void,
        added: (Element) -> (name: String, objection: String?)
    ) {
        func full(_ element: Element) -> String { path.isEmpty ? key(element) : "\(path)/\(key(element))" }
        let newByKey = Dictionary(new.map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
        var oldKeys: Set<String> = []
        for element in old where oldKeys.insert(key(element)).inserted {
            if let other = newByKey[key(element)] {
                compare(&self, element, other)
            } else {
                add(
                    full(element), .removed, detail: added(element).name, isCompatible: false,
                    reason: "clients may use it")
            }
        }
        for element in new where oldKeys.insert(key(element)).inserted {
            let (name, objection) = added(element)
            add(
                full(element), .added, detail: name, isCompatible: objection == nil,
                reason: objection ?? "clients do not know it and need not")
        }
    }

    mutating func compareType(_ path: String, _ what: String, old: TypeReference, new: TypeReference) {
        guard old.description != new.description else { return }
        add(
            path, .changed, detail: "\(what), type \(new) instead of \(old)", isCompatible: false,
            reason: "values have another form")
    }

    /// Compares annotations. They never affect compatibility, because clients evaluate capabilities at run time.
    mutating func compareAnnotations(_ path: String, old: [Annotation], new: [Annotation]) {
        func key(_ annotation: Annotation) -> String {
            annotation.qualifier.map { "\(annotation.term)#\($0)" } ?? annotation.term
        }
        let oldByKey = Dictionary(old.map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
        let newByKey = Dictionary(new.map { (key($0), $0) }, uniquingKeysWith: { first, _ in first })
        let reason = "annotations change neither requests nor payloads"
        for annotation in old where newByKey[key(annotation)] == nil {
            add("\(path)/@\(key(annotation))", .removed, detail: "annotation", isCompatible: true, reason: reason)
        }
        for annotation in new {
            guard let other = oldByKey[key(annotation)] else {
                add("\(path)/@\(key(annotation))", .added, detail: "annotation", isCompatible: true, reason: reason)
                continue
            }
            if other != annotation {
                add("\(path)/@\(key(annotation))", .changed, detail: "annotation", isCompatible: true, reason: reason)
            }
        }
    }

    /// Compares a flag; only a change to the value `allowed` is compatible.
    mutating func compareFlag(
        _ path: String, _ name: String, old: Bool, new: Bool, allowed: Bool?, reason: String
    ) {
        guard old != new else { return }
        let isCompatible = allowed == new
        add(path, .changed, detail: "\(name) \(new) instead of \(old)", isCompatible: isCompatible, reason: reason)
    }
}
