// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ODataModel
import ODataQuery
import ODataService

/// `Harbour.HarbourContainer`: what the service has.
struct HarbourService: TypedService {
    var odataService: DataService

    init(odataService: DataService) {
        self.odataService = odataService
    }

    /// `Parties`, entities of `Harbour.Party`.
    var parties: EntityCollection<Party> { EntityCollection<Party>(odataService, set: "Parties") }

    /// `Photos`, entities of `Harbour.Photo`.
    var photos: EntityCollection<Photo> { EntityCollection<Photo>(odataService, set: "Photos") }

    /// `Ships`, entities of `Harbour.Ship`.
    var ships: EntityCollection<Ship> { EntityCollection<Ship>(odataService, set: "Ships") }

    /// `Master`, the only `Harbour.Person` of its kind.
    var master: EntityRequest<Person> { EntityRequest<Person>(odataService, singleton: "Master") }

    /// `Harbour.FreeBerths`.
    func freeBerths(minLength: ODataDecimal) async throws -> [Position] {
        var odataCall = OperationCall(odataService, "FreeBerths", .function)
        odataCall.set("minLength", minLength)
        return try await odataCall.values()
    }

    /// `Harbour.Reset`.
    func reset() async throws {
        let odataCall = OperationCall(odataService, "Reset", .action)
        try await odataCall.run()
    }
}
