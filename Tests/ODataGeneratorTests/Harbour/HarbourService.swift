// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ODataModel
import ODataQuery
import ODataService

/// `Harbour.HarbourContainer`: the resources of the service.
struct HarbourService: TypedService {
    var odataService: DataService

    init(odataService: DataService) {
        self.odataService = odataService
    }

    /// `Parties`, entities of `Harbour.Party`.
    var parties: TypedCollection<Party> { TypedCollection<Party>(odataService, set: "Parties") }

    /// `Photos`, entities of `Harbour.Photo`.
    var photos: TypedCollection<Photo> { TypedCollection<Photo>(odataService, set: "Photos") }

    /// `Ships`, entities of `Harbour.Ship`.
    var ships: TypedCollection<Ship> { TypedCollection<Ship>(odataService, set: "Ships") }

    /// `Master`, the only `Harbour.Person` of its kind.
    var master: EntityRequest<Person> { EntityRequest<Person>(odataService, singleton: "Master") }

    /// `Harbour.FreeBerths`.
    func freeBerths(minLength: ODataDecimal) async throws -> [Position] {
        var odataCall = OperationCall(odataService, "FreeBerths", .function)
        odataCall.set("minLength", minLength)
        return try await odataCall.values()
    }

    /// `Harbour.Oldest`.
    func oldest() -> EntityRequest<Ship> {
        let odataCall = OperationCall(odataService, "Oldest", .function)
        return odataCall.one()
    }

    /// `Harbour.Reset`.
    func reset() async throws {
        let odataCall = OperationCall(odataService, "Reset", .action)
        try await odataCall.run()
    }
}

extension ValueCollectionRequest where Member == Double {
    /// `Harbour.Mean`.
    func mean() async throws -> Double? {
        let odataCall = OperationCall(on: self, "Harbour.Mean", .function)
        return try await odataCall.value()
    }
}

extension ValueRequest where Value == ODataDecimal {
    /// `Harbour.InFeet`.
    func inFeet() async throws -> ODataDecimal? {
        let odataCall = OperationCall(on: self, "Harbour.InFeet", .function)
        return try await odataCall.value()
    }
}

extension ValueRequest where Value == ShipKind {
    /// `Harbour.Successors`.
    func successors() async throws -> [ShipKind] {
        let odataCall = OperationCall(on: self, "Harbour.Successors", .function)
        return try await odataCall.values()
    }
}
