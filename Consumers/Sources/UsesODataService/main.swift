import ODataService

print(ODataError.notFound("Orders(1)"))
