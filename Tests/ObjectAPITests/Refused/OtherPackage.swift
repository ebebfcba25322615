// An object of another package. Expected: no exact matches in call to instance method 'save'
import ODataModel
import ODataService
import ObjectAPI

enum Other: ObjectPackage {
    typealias Personalization = NoPersonalization<Other>
    static var metadata: GeneratedMetadata { CrmMetadata.metadata }
}

func wrong(_ other: PackageDatabase<Other>, _ customer: Customer) async throws { try await other.save(customer) }
