import ODataModel

/// The comparison of a package with the metadata of the service that it is connected to.
enum PackageDifference {
    /// Checks that the service has every attribute of the package with the same type, and every set.
    ///
    /// - Throws: ``ObjectError/packageMismatch(place:reason:)``.
    static func check(package: EntityDataModel, service: EntityDataModel) throws(ObjectError) {
        let (own, other) = (PackageModel(package), PackageModel(service))
        for set in package.container.entitySets {
            guard let found = service.entitySet(set.name) else {
                throw .packageMismatch(place: set.name, reason: "The service has no such entity set.")
            }
            guard found.type == set.type else {
                throw .packageMismatch(place: set.name, reason: "The service has \(found.type) in it, not \(set.type).")
            }
            guard let shape = package.shape(set.type), let present = service.shape(set.type) else { continue }
            for property in shape.properties {
                let place = "\(set.type)/\(property.name)"
                guard let counterpart = present.property(property.name) else {
                    throw .packageMismatch(place: place, reason: "The service does not have the attribute.")
                }
                guard counterpart.type == property.type else {
                    throw .packageMismatch(
                        place: place, reason: "It is \(counterpart.type) at the service, not \(property.type).")
                }
            }
            guard statesNumber(set.type, service), own.numbers[set.type] != other.numbers[set.type] else { continue }
            throw .packageMismatch(
                place: set.type.description, reason: "The type has another number at the service.")
        }
    }

    /// Whether the service's metadata state a number. A service that does not know the vocabulary has none.
    private static func statesNumber(_ type: QualifiedName, _ model: EntityDataModel) -> Bool {
        model.structuredType(type)?.annotation(Vocabulary.objects + "EntityTypeNumber") != nil
    }
}
