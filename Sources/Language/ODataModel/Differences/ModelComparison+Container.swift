extension ModelComparison {
    /// Compares operations and their overloads. A function with additional optional parameters at the end matches
    /// its older version, because existing calls remain valid (OData Protocol 4.01, 5.2).
    mutating func compareOperations() {
        let (old, new) = (old.schemas.flatMap(\.operations), new.schemas.flatMap(\.operations))
        let oldKeys = Set(old.map(\.comparisonKey))
        let lostKeys = oldKeys.subtracting(new.map(\.comparisonKey))
        func key(_ operation: ODataOperation) -> String {
            guard !oldKeys.contains(operation.comparisonKey) else { return operation.comparisonKey }
            var shorter = operation
            while shorter.parameters.last?.mayBeLeftOut == true {
                shorter.parameters.removeLast()
                if lostKeys.contains(shorter.comparisonKey) { return shorter.comparisonKey }
            }
            return operation.comparisonKey
        }
        matchAll(
            old, new, key: key, compare: { $0.compare($1, $2) },
            added: { ($0.kind == .action ? "action" : "function", nil) })
    }

    mutating func compare(_ old: ODataOperation, _ new: ODataOperation) {
        let path = old.comparisonKey
        if old.kind != new.kind {
            add(
                path, .changed, detail: "action against function", isCompatible: false,
                reason: "it is called in another way")
            return
        }
        compareFlag(
            path, "IsBound", old: old.isBound, new: new.isBound, allowed: nil, reason: "it is called in another place")
        compareFlag(
            path, "IsComposable", old: old.isComposable, new: new.isComposable, allowed: true,
            reason: "a composable function can be called in more ways")
        // A function with different required parameters is another overload, but an action is not.
        matchAll(
            old.parameters, new.parameters, path: path, key: \.name,
            compare: { comparison, old, new in
                comparison.compareType("\(path)/\(old.name)", "parameter", old: old.type, new: new.type)
                if case .collection(.entity) = new.type {
                    // Collections of entities never contain null.
                } else if old.facets.isNullabilityUnstated || new.facets.isNullabilityUnstated {
                    // An unstated nullability is not a difference.
                } else if old.isNullable, !new.isNullable {
                    comparison.compareNullable("\(path)/\(old.name)", "parameter", old: true, new: false)
                } else if old.isNullable != new.isNullable {
                    comparison.add(
                        "\(path)/\(old.name)", .changed, detail: "parameter, Nullable true instead of false",
                        isCompatible: true,
                        reason: "all that was valid still is")
                }
                comparison.compareFacets(
                    "\(path)/\(old.name)", "parameter", old: old.facets, new: new.facets, of: new.type)
                comparison.compareAnnotations("\(path)/\(old.name)", old: old.annotations, new: new.annotations)
            },
            added: { parameter in
                let isOptional = parameter.mayBeLeftOut || new.kind == .action && parameter.isNullable
                return ("parameter", isOptional ? nil : "clients do not give it a value")
            })
        switch (old.returnType, new.returnType) {
        case (nil, nil): break
        case (let old?, let new?):
            compareType("\(path)/$ReturnType", "result", old: old, new: new)
        case (nil, .some):
            add(
                "\(path)/$ReturnType", .added, detail: "result", isCompatible: true,
                reason: "clients do not know it and need not")
        case (.some, nil):
            add("\(path)/$ReturnType", .removed, detail: "result", isCompatible: false, reason: "clients may use it")
        }
        if old.returnType != nil, new.returnType != nil, old.returnType?.isCollection == false, !old.isReturnNullable,
            new.isReturnNullable
        {
            compareNullable("\(path)/$ReturnType", "result", old: false, new: true)
        }
        compareAnnotations(path, old: old.annotations, new: new.annotations)
    }

    mutating func compareContainers() {
        let path = old.container.name.description
        if old.container.name != new.container.name {
            add(
                path, .changed, detail: "container, now \(new.container.name)", isCompatible: true,
                reason: "no URL contains the name of the container")
        }
        matchAll(
            old.container.entitySets, new.container.entitySets, path: path, key: \.name,
            compare: { comparison, old, new in
                let path = "\(path)/\(old.name)"
                comparison.compareSetType(path, "entity set", old: old.type, new: new.type)
                comparison.compareBindings(path, old: old.bindings, new: new.bindings)
                comparison.compareFlag(
                    path, "entity set, IncludeInServiceDocument", old: old.isInServiceDocument,
                    new: new.isInServiceDocument,
                    allowed: true, reason: "clients may find it in the service document")
                comparison.compareAnnotations(path, old: old.annotations, new: new.annotations)
            }, added: { _ in ("entity set", nil) })
        matchAll(
            old.container.singletons, new.container.singletons, path: path, key: \.name,
            compare: { comparison, old, new in
                let path = "\(path)/\(old.name)"
                comparison.compareSetType(path, "singleton", old: old.type, new: new.type)
                comparison.compareBindings(path, old: old.bindings, new: new.bindings)
                if old.isNullable != new.isNullable {
                    comparison.compareNullable(path, "singleton", old: old.isNullable, new: new.isNullable)
                }
                comparison.compareAnnotations(path, old: old.annotations, new: new.annotations)
            }, added: { _ in ("singleton", nil) })
        matchAll(
            old.container.operationImports, new.container.operationImports, path: path, key: \.name,
            compare: { comparison, old, new in
                let path = "\(path)/\(old.name)"
                if old.operation != new.operation || old.kind != new.kind || old.httpMethod != new.httpMethod {
                    comparison.add(
                        path, .changed, detail: "operation import", isCompatible: false,
                        reason: "it calls something else, or in another way")
                }
                let sets = (
                    old.entitySet.map { Self.local($0, comparison.old.container) },
                    new.entitySet.map { Self.local($0, comparison.new.container) }
                )
                if sets.0 != sets.1 {
                    comparison.add(
                        path, .changed,
                        detail:
                            "operation import, entity set \(new.entitySet ?? "none") instead of \(old.entitySet ?? "none")",
                        isCompatible: old.entitySet == nil, reason: "the entities returned belong elsewhere")
                }
                comparison.compareAnnotations(path, old: old.annotations, new: new.annotations)
            }, added: { _ in ("operation import", nil) })
        compareAnnotations(path, old: old.container.annotations, new: new.container.annotations)
    }

    private mutating func compareSetType(_ path: String, _ what: String, old: QualifiedName, new: QualifiedName) {
        guard old != new else { return }
        add(
            path, .changed, detail: "\(what), type \(new) instead of \(old)", isCompatible: false,
            reason: "it has other entities")
    }

    private mutating func compareBindings(
        _ path: String, old: [NavigationPropertyBinding], new: [NavigationPropertyBinding]
    ) {
        matchAll(
            old, new, path: path, key: \.path,
            compare: { comparison, old, new in
                // A target in the same container may omit the container's name.
                let targets = (
                    Self.local(old.target, comparison.old.container), Self.local(new.target, comparison.new.container)
                )
                if targets.0 != targets.1 {
                    comparison.add(
                        "\(path)/\(old.path)", .changed, detail: "binding to \(new.target) instead of \(old.target)",
                        isCompatible: false,
                        reason: "it leads to other entities")
                }
            }, added: { _ in ("binding", nil) })
    }

    private static func local(_ target: String, _ container: EntityContainer) -> String {
        let prefix = "\(container.name)/"
        return target.rest(behind: prefix).map(String.init) ?? target
    }
}

extension ODataOperation {
    /// The text that identifies an operation or an overload.
    fileprivate var comparisonKey: String { "\(name)(\(signature))" }
}
