// An object of another package. Expected: requires the types 'Other' and 'Crm' be equivalent
import ODataModel
import ODataService
import ObjectAPI

enum Other: ObjectPackage {
    typealias Personalization = NoPersonalization<Other>
    static var metadata: GeneratedMetadata { CrmMetadata.metadata }
}

func wrong(_ other: PackageDatabase<Other>, _ customer: Customer) async throws { try await other.save(customer) }
