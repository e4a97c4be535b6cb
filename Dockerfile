# MindTorch of this checkout: docker build -t mindtorch . && docker run --rm -v "$PWD:/work" mindtorch run train.py
FROM python:3.11-slim AS build
RUN apt-get update && apt-get install --yes --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
COPY . /source
ENV MINDTORCH_CPU_REQUIRE=1 MINDTORCH_RUNTIME_REQUIRE=1
RUN python -m venv /opt/mindtorch && cd /source/packages && /opt/mindtorch/bin/pip install --no-cache-dir \
    ./mindtorch-storage ./mindtorch-dispatch ./mindtorch-autograd ./mindtorch-runtime ./mindtorch-cpu \
    ./mindtorch-distributed ./mindtorch-proxy ./mindtorch-full

FROM python:3.11-slim
RUN apt-get update && apt-get install --yes --no-install-recommends libgomp1 && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home user
COPY --from=build /opt/mindtorch /opt/mindtorch
ENV PATH=/opt/mindtorch/bin:$PATH
USER user
WORKDIR /work
ENTRYPOINT ["mindtorch"]
CMD ["env"]
