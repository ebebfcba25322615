// Generated from the metadata of an OData service. Changes made here are lost.
// swift-format-ignore-file
import ODataModel
import ODataQuery
import ODataService

/// `Orchard.OrchardEntities`: the resources of the service.
struct OrchardService: TypedService {
    var odataService: DataService

    init(odataService: DataService) {
        self.odataService = odataService
    }

    /// `Groves`, entities of `Orchard.Grove`.
    var groves: TypedCollection<Grove> { TypedCollection<Grove>(odataService, set: "Groves") }

    /// `Trees`, entities of `Orchard.Tree`.
    var trees: TypedCollection<Tree> { TypedCollection<Tree>(odataService, set: "Trees") }

    /// `Orchard.Fell`.
    func fell(id: Int32) async throws {
        var odataCall = OperationCall(odataService, "Fell", .action)
        odataCall.set("id", id)
        try await odataCall.run()
    }

    /// `Orchard.Heaviest`.
    func heaviest() -> EntityRequest<Tree> {
        let odataCall = OperationCall(odataService, "Heaviest", .function)
        return odataCall.one()
    }

    /// `Orchard.Names`.
    func names() async throws -> [String] {
        let odataCall = OperationCall(odataService, "Names", .function)
        return try await odataCall.values()
    }

    /// `Orchard.PlaceOf`.
    func placeOf(id: Int32) async throws -> Place? {
        var odataCall = OperationCall(odataService, "PlaceOf", .function)
        odataCall.set("id", id)
        return try await odataCall.value()
    }

    /// `Orchard.Places`.
    func places() async throws -> [Place] {
        let odataCall = OperationCall(odataService, "Places", .function)
        return try await odataCall.values()
    }

    /// `Orchard.TotalMass`.
    func totalMass(plantedBefore: ODataDateTime, named: String) async throws -> Double? {
        var odataCall = OperationCall(odataService, "TotalMass", .function)
        odataCall.set("plantedBefore", plantedBefore)
        odataCall.set("named", named)
        return try await odataCall.value()
    }

    /// `Orchard.TreesHigherThan`.
    func treesHigherThan(height: ODataDecimal) -> TypedCollection<Tree> {
        var odataCall = OperationCall(odataService, "TreesHigherThan", .function)
        odataCall.set("height", height)
        return odataCall.collection()
    }

    /// `Orchard.Water`.
    func water(id: Int32, at: ODataDuration) async throws -> Tree? {
        var odataCall = OperationCall(odataService, "Water", .action)
        odataCall.set("id", id)
        odataCall.set("at", at)
        return try await odataCall.entity()
    }
}
