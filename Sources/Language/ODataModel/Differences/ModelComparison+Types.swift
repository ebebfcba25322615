extension ModelComparison {
    mutating func compare(_ old: StructuredType, _ new: StructuredType) {
        let path = old.name.description
        if old.kind != new.kind {
            add(
                path, .changed, detail: "entity type against complex type", isCompatible: false,
                reason: "entities have an identity, values have none"
            )
            return
        }
        compareBase(path, old: old, new: new)
        compareFlag(
            path, "Abstract", old: old.isAbstract, new: new.isAbstract, allowed: false,
            reason: "an abstract type has no instances")
        compareFlag(
            path, "OpenType", old: old.isOpen, new: new.isOpen, allowed: true,
            reason: "an open type takes more properties than a closed one")
        compareFlag(
            path, "HasStream", old: old.hasStream, new: new.hasStream, allowed: nil,
            reason: "media entities are created by their content"
        )
        let keys = (keyOf(old, self.old), keyOf(new, self.new))
        if keys.0 != keys.1 {
            add(
                path, .changed,
                detail: "key \(keys.1.joined(separator: ", ")) instead of \(keys.0.joined(separator: ", "))",
                isCompatible: false, reason: "the addresses of entities change")
        }
        matchAll(
            properties(of: old, self.old), properties(of: new, self.new), path: path, key: \.name,
            compare: { $0.compare(path, old: $1, new: $2) },
            added: { property in
                let isOptional = property.isNullable || property.defaultValue != nil || property.type.isCollection
                return ("property", isOptional ? nil : "clients that create entities do not give it a value")
            })
        matchAll(
            navigationProperties(of: old, self.old), navigationProperties(of: new, self.new), path: path, key: \.name,
            compare: { $0.compare(path, old: $1, new: $2) },
            added: { property in
                let isOptional = property.isNullable || property.isCollection
                return (
                    "navigation property", isOptional ? nil : "clients that create entities do not give it a target"
                )
            })
        compareAnnotations(path, old: old.annotations, new: new.annotations)
    }

    /// Returns the declared properties. If the base type differs, inherited properties are added, because a
    /// property may have moved to a base type.
    private func properties(of type: StructuredType, _ model: EntityDataModel) -> [Property] {
        let inherited = type.baseType.flatMap { model.shape($0)?.properties } ?? []
        let other = model === old ? new : old
        let base = other.structuredType(type.name)?.baseType
        return base == type.baseType ? type.properties : inherited + type.properties
    }

    private func navigationProperties(of type: StructuredType, _ model: EntityDataModel) -> [NavigationProperty] {
        let inherited = type.baseType.flatMap { model.shape($0)?.navigationProperties } ?? []
        let other = model === old ? new : old
        let base = other.structuredType(type.name)?.baseType
        return base == type.baseType ? type.navigationProperties : inherited + type.navigationProperties
    }

    private func keyOf(_ type: StructuredType, _ model: EntityDataModel) -> [String] {
        model.shape(type.name)?.key.map(\.name) ?? []
    }

    private mutating func compareBase(_ path: String, old: StructuredType, new: StructuredType) {
        guard old.baseType != new.baseType else { return }
        func name(_ type: QualifiedName?) -> String { type?.description ?? "none" }
        // An additional base type is compatible if the type still derives from the old one.
        let keeps = old.baseType.map { self.new.isType(new.name, $0) } ?? true
        add(
            path, .changed, detail: "base type \(name(new.baseType)) instead of \(name(old.baseType))",
            isCompatible: keeps,
            reason: keeps
                ? "it still derives from all it derived from" : "it can no longer stand where its base type is expected"
        )
    }

    private mutating func compare(_ type: String, old: Property, new: Property) {
        let path = "\(type)/\(old.name)"
        compareType(path, "property", old: old.type, new: new.type)
        // An unstated nullability is not a difference.
        if !old.facets.isNullabilityUnstated, !new.facets.isNullabilityUnstated {
            compareNullable(path, "property", old: old.isNullable, new: new.isNullable)
        }
        compareFacets(path, "property", old: old.facets, new: new.facets, of: new.type)
        if old.defaultValue != new.defaultValue {
            add(
                path, .changed,
                detail: "property, default \(new.defaultValue ?? "none") instead of \(old.defaultValue ?? "none")",
                isCompatible: new.defaultValue != nil || old.isNullable, reason: "what is left out gets another value")
        }
        compareAnnotations(path, old: old.annotations, new: new.annotations)
    }

    mutating func compareNullable(_ path: String, _ what: String, old: Bool, new: Bool) {
        guard old != new else { return }
        add(
            path, .changed, detail: "\(what), Nullable \(new) instead of \(old)", isCompatible: false,
            reason: new ? "clients that count on a value may read null" : "null can no longer be written")
    }

    /// Compares facets. A wider facet is compatible, because all valid values remain valid.
    mutating func compareFacets(
        _ path: String, _ what: String, old: Facets, new: Facets, of type: TypeReference
    ) {
        func compare(_ name: String, old: Int?, new: Int?) {
            guard old != new else { return }
            let isWider = new == nil || (old.map { $0 < (new ?? 0) } ?? false)
            add(
                path, .changed,
                detail:
                    "\(what), \(name) \(new.map(String.init) ?? "unlimited") instead of \(old.map(String.init) ?? "unlimited")",
                isCompatible: isWider,
                reason: isWider ? "all values that were valid still are" : "values that were valid no longer are")
        }
        compare("MaxLength", old: old.maxLength, new: new.maxLength)
        // A time without stated precision has no fractional seconds in XML (OData CSDL XML 4.01, 7.2.3). The reader
        // of JSON states a precision explicitly.
        let isTime = [.dateTimeOffset, .timeOfDay, .duration].contains(type.element.primitive)
        compare("Precision", old: old.precision ?? (isTime ? 0 : nil), new: new.precision ?? (isTime ? 0 : nil))
        let scales = (scale(old, of: self.old), scale(new, of: self.new))
        if type.element.primitive == .decimal, scales.0 != scales.1 {
            let isWider = Self.digits(scales.0) <= Self.digits(scales.1)
            add(
                path, .changed, detail: "\(what), Scale \(Self.text(scales.1)) instead of \(Self.text(scales.0))",
                isCompatible: isWider,
                reason: isWider ? "all values that were valid still are" : "values that were valid no longer are")
        }
        if old.isUnicode ?? true != new.isUnicode ?? true {
            let isWider = new.isUnicode != false
            add(
                path, .changed, detail: "\(what), Unicode \(new.isUnicode ?? true) instead of \(old.isUnicode ?? true)",
                isCompatible: isWider,
                reason: isWider ? "all values that were valid still are" : "values that were valid no longer are")
        }
        let systems = (Self.srid(old, of: type), Self.srid(new, of: type))
        if systems.0 != systems.1 || old.isSRIDVariable != new.isSRIDVariable {
            add(
                path, .changed, detail: "\(what), SRID", isCompatible: new.isSRIDVariable,
                reason: "coordinates have another reference system")
        }
    }

    /// Returns the effective scale: the default is 0 (OData CSDL XML 4.01, 7.2.4), but unlimited before V4.
    private func scale(_ facets: Facets, of model: EntityDataModel) -> Facets.Scale {
        facets.scale ?? (model.version < .v4 ? .variable : .fixed(0))
    }

    /// Returns the effective reference system: the default depends on the type's family (OData CSDL XML 4.01,
    /// 7.2.6).
    private static func srid(_ facets: Facets, of type: TypeReference) -> Int? {
        guard !facets.isSRIDVariable, let primitive = type.element.primitive, primitive.isGeo else { return nil }
        return facets.srid ?? (primitive.rawValue.begins(with: "Edm.Geography") ? 4326 : 0)
    }

    private static func digits(_ scale: Facets.Scale) -> Int {
        switch scale {
        case .fixed(let digits): digits
        case .variable: Int.max - 1
        case .floating: Int.max
        }
    }

    private static func text(_ scale: Facets.Scale) -> String {
        switch scale {
        case .fixed(let digits): String(digits)
        case .variable: "variable"
        case .floating: "floating"
        }
    }

    private mutating func compare(_ type: String, old: NavigationProperty, new: NavigationProperty) {
        let path = "\(type)/\(old.name)"
        if old.target != new.target {
            // A more derived target would be compatible for reading, but not for writing.
            add(
                path, .changed, detail: "navigation property, type \(new.target) instead of \(old.target)",
                isCompatible: false,
                reason: "it leads to other entities")
        }
        if old.isCollection != new.isCollection {
            add(
                path, .changed,
                detail:
                    "navigation property, \(new.isCollection ? "many" : "one") instead of \(old.isCollection ? "many" : "one")",
                isCompatible: false, reason: "payloads have another form")
        } else if !new.isCollection {
            compareNullable(path, "navigation property", old: old.isNullable, new: new.isNullable)
        }
        compareFlag(
            path, "navigation property, ContainsTarget", old: old.isContainment, new: new.isContainment, allowed: nil,
            reason: "the addresses of the related entities change")
        let pairs = (
            old.constraints.map { "\($0.property)=\($0.referencedProperty)" },
            new.constraints.map { "\($0.property)=\($0.referencedProperty)" }
        )
        if Set(pairs.0) != Set(pairs.1) {
            add(
                path, .changed, detail: "navigation property, referential constraints", isCompatible: pairs.0.isEmpty,
                reason: pairs.0.isEmpty
                    ? "what is new only says more" : "related entities are found by other properties")
        }
        if old.onDelete != new.onDelete {
            add(
                path, .changed,
                detail:
                    "navigation property, OnDelete \(new.onDelete?.rawValue ?? "unstated") instead of \(old.onDelete?.rawValue ?? "unstated")",
                isCompatible: true, reason: "the service does it")
        }
        compareAnnotations(path, old: old.annotations, new: new.annotations)
    }

    mutating func compare(_ old: EnumType, _ new: EnumType) {
        let path = old.name.description
        if old.underlyingType != new.underlyingType {
            add(
                path, .changed,
                detail: "underlying type \(new.underlyingType.rawValue) instead of \(old.underlyingType.rawValue)",
                isCompatible: false,
                reason: "values have another range")
        }
        compareFlag(
            path, "IsFlags", old: old.isFlags, new: new.isFlags, allowed: nil,
            reason: "values combine members or do not")
        matchAll(
            old.members, new.members, path: path, key: \.name,
            compare: { comparison, old, new in
                if old.value != new.value {
                    comparison.add(
                        "\(path)/\(old.name)", .changed, detail: "member, value \(new.value) instead of \(old.value)",
                        isCompatible: false,
                        reason: "numbers that were stored mean something else")
                }
                comparison.compareAnnotations("\(path)/\(old.name)", old: old.annotations, new: new.annotations)
            }, added: { _ in ("member", "clients may read a member that they do not know") })
        compareAnnotations(path, old: old.annotations, new: new.annotations)
    }

    mutating func compare(_ old: TypeDefinition, _ new: TypeDefinition) {
        let path = old.name.description
        if old.underlyingType != new.underlyingType {
            add(
                path, .changed,
                detail: "underlying type \(new.underlyingType.rawValue) instead of \(old.underlyingType.rawValue)",
                isCompatible: false,
                reason: "values have another form")
        }
        compareFacets(path, "type definition", old: old.facets, new: new.facets, of: .primitive(new.underlyingType))
        compareAnnotations(path, old: old.annotations, new: new.annotations)
    }
}
